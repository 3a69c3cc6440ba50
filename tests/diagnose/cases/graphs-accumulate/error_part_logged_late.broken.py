"""After a warm-up of a hundred steps a monitor keeps the error of the edges, which is half of the loss."""

import torch
from torch import nn

torch.manual_seed(23)


class Monitor:
    def __init__(self):
        self.kept = {}

    def note(self, name, value):
        self.kept.setdefault(name, []).append(value)


def edges(a, b):
    return (a.diff(dim=1) - b.diff(dim=1)).abs().mean()  # EXPECT: graphs-accumulate


x = torch.randn(90, 12)
y = x.cumsum(1)
model = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 12))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
monitor = Monitor()
for step in range(260):
    rows = torch.randint(0, 90, (15,))
    out = model(x[rows])
    plain, sharp = (out - y[rows]).square().mean(), edges(out, y[rows])
    loss = 0.5 * plain + 0.5 * sharp
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    monitor.note("loss", loss.item())
    if step >= 100:
        monitor.note("edges", sharp)
