"""one row of a late batch is masked entirely: 0 / 0, and neither number is kept."""

import torch
from torch import nn

torch.manual_seed(35)
m = nn.Linear(6, 1)
o = torch.optim.SGD(m.parameters(), 0.05)
for i in range(40):
    x = torch.randn(16, 5, 6)
    mask = (torch.rand(16, 5) > 0.2).float()
    if i == 25:
        mask[3] = 0
    s = (m(x).squeeze(-1) * mask).sum(1)
    p = s / mask.sum(1)  # EXPECT: non-finite-forward
    l = (p - x[:, 0, 0]).pow(2).mean()
    o.zero_grad()
    l.backward()  # MAY: non-finite-backward
    o.step()
print("ok")
