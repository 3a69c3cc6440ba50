"""mixing weights become a list of numbers: the parameter behind them never moves."""

import torch
from torch import nn

torch.manual_seed(16)


class Ensemble(nn.Module):
    def __init__(s):
        super().__init__()
        s.ms = nn.ModuleList(nn.Linear(4, 1) for _ in range(3))
        s.alpha = nn.Parameter(torch.zeros(3))

    def forward(s, x):
        ws = torch.softmax(s.alpha, 0).tolist()  # EXPECT: path-cut
        return sum(w * m(x) for w, m in zip(ws, s.ms))


m = Ensemble()
o = torch.optim.Adam(m.parameters(), 1e-2)
for i in range(40):
    x = torch.randn(16, 4)
    l = (m(x) - x[:, :1]).abs().mean()
    o.zero_grad()
    l.backward()
    o.step()
print(f"{l.item():.3f}")
