"""Must stay silent: ewc fisher pass."""
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(50)
net = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 3))
opt = torch.optim.SGD(net.parameters(), 0.05)
x, y = torch.randn(60, 5), torch.arange(60) % 3
fisher, old = None, None
for task in range(3):
    for _ in range(20):
        loss = F.cross_entropy(net(x + task), y)
        if fisher:
            loss = loss + 10 * sum((f * (p - o).pow(2)).sum() for f, p, o in zip(fisher, net.parameters(), old))
        opt.zero_grad()
        loss.backward()
        opt.step()
    fisher = [torch.zeros_like(p) for p in net.parameters()]
    for i in range(10):
        net.zero_grad()
        F.cross_entropy(net(x[i : i + 1] + task), y[i : i + 1]).backward()
        for f, p in zip(fisher, net.parameters()):
            f += p.grad**2 / 10
    net.zero_grad()
    old = [p.detach().clone() for p in net.parameters()]
print("ewc")
