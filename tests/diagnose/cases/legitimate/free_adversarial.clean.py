"""Must stay silent: free adversarial."""
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(31)
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3))
opt = torch.optim.SGD(net.parameters(), 0.05)
x, y = torch.randn(48, 6), torch.arange(48) % 3
delta = torch.zeros(48, 6)
for epoch in range(6):
    for replay in range(4):
        noise = delta.clone().requires_grad_()
        loss = F.cross_entropy(net(x + noise), y)
        opt.zero_grad()
        loss.backward()
        delta += 0.05 * noise.grad.sign()
        delta.clamp_(-0.1, 0.1)
        opt.step()
print("free")
