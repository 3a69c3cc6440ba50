"""Must stay silent: sam two steps."""
import torch
from torch import nn
torch.manual_seed(15)
net = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1))
opt = torch.optim.SGD(net.parameters(), 0.05)
x = torch.randn(60, 5)
y = x.sum(1, keepdim=True)
for _ in range(25):
    opt.zero_grad()
    (net(x) - y).pow(2).mean().backward()
    with torch.no_grad():
        norm = torch.stack([p.grad.norm() for p in net.parameters()]).norm()
        eps = [0.05 * p.grad / (norm + 1e-12) for p in net.parameters()]
        for p, e in zip(net.parameters(), eps):
            p.add_(e)
    opt.zero_grad()
    (net(x) - y).pow(2).mean().backward()
    with torch.no_grad():
        for p, e in zip(net.parameters(), eps):
            p.sub_(e)
    opt.step()
print("sam")
