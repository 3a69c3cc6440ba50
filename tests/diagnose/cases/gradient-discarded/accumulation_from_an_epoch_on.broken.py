"""From the fourth epoch on gradients of four batches are to be added up, and are cleared before each."""
import torch
from torch import nn
from dataclasses import dataclass


@dataclass
class Schedule:
    epochs: int = 8
    grow_at: int = 4
    micro: int = 4


torch.manual_seed(4)
s = Schedule()
x = torch.rand(800, 6)
y = x.sum(1, keepdim=True).sin()
net = nn.Sequential(nn.Linear(6, 20), nn.GELU(), nn.Linear(20, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(s.epochs):
    accumulate = s.micro if epoch >= s.grow_at else 1
    for k, idx in enumerate(torch.randperm(800).split(10)):
        opt.zero_grad()  # EXPECT: gradient-discarded
        loss = nn.functional.mse_loss(net(x[idx]), y[idx]) / accumulate
        loss.backward()
        if (k + 1) % accumulate == 0:
            opt.step()
    print(epoch, loss.item())
