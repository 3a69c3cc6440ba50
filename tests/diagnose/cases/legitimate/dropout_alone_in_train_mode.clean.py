"""Must stay silent: dropout layers switched on by hand for uncertainty."""

import torch
from torch import nn

torch.manual_seed(41)
m = nn.Sequential(nn.Linear(3, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
o = torch.optim.Adam(m.parameters(), 1e-2)


def enable_dropout(model):
    for l in model.modules():
        if l.__class__.__name__.startswith("Dropout"):
            l.train()


for ep in range(4):
    m.train()
    for i in range(10):
        x = torch.randn(32, 3)
        o.zero_grad()
        (m(x) - x[:, :1]).pow(2).mean().backward()
        o.step()
    m.eval()
    enable_dropout(m)
    with torch.no_grad():
        v = torch.stack([m(x) for _ in range(10)]).var(0).mean()
print(v.item() > 0)
