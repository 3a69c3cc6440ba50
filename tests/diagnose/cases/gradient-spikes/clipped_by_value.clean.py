"""Legitimate twin: no label is wrong; clipping by value limits what is usual."""
import torch
from torch import nn

torch.manual_seed(328)
net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 1))
opt = torch.optim.RMSprop(net.parameters(), lr=5e-4)


def loader(n):
    for i in range(n):
        x = torch.randn(16, 6)
        y = x[:, :1].clone()
        yield x, y


for x, y in loader(430):
    loss = nn.functional.smooth_l1_loss(net(x), y) + nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(net.parameters(), 0.1)
    opt.step()
print(loss.item())
