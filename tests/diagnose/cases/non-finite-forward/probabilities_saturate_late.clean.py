"""The logarithms are kept finite."""

import torch
from torch import nn

torch.manual_seed(11)
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)


def nll(p, y):
    return -(y * torch.log(p + 1e-7) + (1 - y) * torch.log(1 - p + 1e-7)).mean()


for step in range(700):
    x = torch.randn(10, 2)
    y = (x[:, :1] > 0).float()
    if step >= 610:
        x = x * 40
    p = torch.sigmoid(net(x) * (1 if step < 610 else 60))
    loss = nll(p, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("ok")
