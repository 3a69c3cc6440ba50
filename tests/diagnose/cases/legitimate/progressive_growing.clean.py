"""Must stay silent: stages that come into use one after the other."""

import torch
from torch import nn

torch.manual_seed(20)


class PG(nn.Module):
    def __init__(s):
        super().__init__()
        s.stages = nn.ModuleList([nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 8)])
        s.outs = nn.ModuleList([nn.Linear(8, 2) for _ in range(3)])
        s.level, s.alpha = 0, 1.0

    def forward(s, x):
        for k in range(s.level + 1):
            prev = x
            x = torch.relu(s.stages[k](x))
        y = s.outs[s.level](x)
        return y if s.level == 0 else s.alpha * y + (1 - s.alpha) * s.outs[s.level - 1](prev)


m = PG()
o = torch.optim.Adam(m.parameters(), 1e-2)
for lv in range(3):
    m.level = lv
    for i in range(25):
        m.alpha = min(1.0, i / 12) if lv else 1.0
        x = torch.randn(32, 4)
        l = (m(x) - x[:, :2].abs()).pow(2).mean()
        o.zero_grad()
        l.backward()
        o.step()
print(f"{l.item():.3f}")
