"""From some step on a row of the data is empty: its share is 0 / 0."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(11)

net = nn.Linear(6, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for t in range(700):
    x = torch.rand(16, 6)
    if t >= 333:
        x[3] = 0.0
    share = x[:, 0] / x.sum(1).clamp(min=1e-6)
    loss = (net(x)[:, 0] - share).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
