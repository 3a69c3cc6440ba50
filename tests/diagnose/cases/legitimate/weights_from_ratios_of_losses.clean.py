"""Must stay silent: losses weighted by numbers made of them (dynamic weight averaging)."""

import torch
from torch import nn

torch.manual_seed(4)
net = nn.Linear(6, 3)
o = torch.optim.Adam(net.parameters(), 1e-2)
init = None
for i in range(60):
    x = torch.randn(32, 6)
    p = net(x)
    ls = [(p[:, k] - (k + 1) * x[:, k]).pow(2).mean() for k in range(3)]
    if init is None:
        init = [l.item() for l in ls]
    ratio = [l.item() / a for l, a in zip(ls, init)]
    w = [r / sum(ratio) * 3 for r in ratio]
    loss = sum(wi * li for wi, li in zip(w, ls))
    o.zero_grad()
    loss.backward()
    o.step()
print(f"{loss.item():.3f}")
