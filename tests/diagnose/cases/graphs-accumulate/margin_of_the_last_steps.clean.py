"""Legitimate twin: the meter keeps values without a graph."""
import torch
from torch import nn


class RunningMean:
    def __init__(self):
        self.total, self.n = 0.0, 0

    def add(self, value):
        self.total = self.total + value
        self.n += 1

    @property
    def mean(self):
        return float(self.total / max(self.n, 1))


torch.manual_seed(61)
net = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)
margin = RunningMean()
for step in range(250):
    x = torch.randn(16, 5)
    y = (x[:, :1] > 0).float()
    logit = net(x)
    loss = nn.functional.binary_cross_entropy_with_logits(logit, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step > 200:
        margin.add((logit.detach() * (2 * y - 1)).mean())
print(margin.mean)
