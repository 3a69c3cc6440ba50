"""Losses of samples are reported relative to those of the last epoch, kept as numbers: a constant that is meant."""
import torch
from torch import nn

torch.manual_seed(79)
net = nn.Linear(6, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.02)
data = torch.randn(64, 6)
before = torch.zeros(64)
for epoch in range(12):
    for rows in torch.arange(64).split(16):
        each = (net(data[rows])[:, 0] - data[rows].sum(1)).square()
        loss = (each - before[rows]).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        before[rows] = torch.tensor(each.tolist())
print("done")
