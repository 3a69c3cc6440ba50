"""A corrupted batch comes once, late in a long training."""
import torch
from torch import nn

torch.manual_seed(90)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)


def batches(count):
    for number in range(count):
        x = torch.randn(32, 6)
        y = x.sum(1, keepdim=True)
        yield x, y


for x, y in batches(1200):
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("over")
