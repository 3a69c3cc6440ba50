"""Must stay silent: Layers are frozen one after the other while the training goes on with the same optimizer."""
import torch
from torch import nn

torch.manual_seed(75)
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 1))
opt = torch.optim.SGD(net.parameters(), 0.02)
x = torch.randn(40, 6)
for epoch in range(40):
    if epoch in (10, 20):
        net.eval()
        with torch.no_grad():
            before = net(x).mean()
        for p in net[(epoch - 10) // 5].parameters():
            p.requires_grad_(False)
            p.grad = None
        net.train()
    for xb in x.split(10):
        loss = (net(xb) - xb[:, :1]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
print("frozen out")
