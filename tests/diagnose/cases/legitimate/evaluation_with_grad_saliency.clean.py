"""Must stay silent: evaluation with grad saliency."""
import torch
from torch import nn
torch.manual_seed(54)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), 1e-2)
x, y = torch.randn(60, 6), torch.arange(60) % 3
for epoch in range(12):
    net.train()
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    net.eval()
    probe = x[:4].clone().requires_grad_()
    net(probe).max(1).values.sum().backward()
    saliency = probe.grad.abs().mean(0)
    net.zero_grad()
print(saliency.shape)
