"""`module.requires_grad = True` only sets an attribute of the module."""

import torch
from torch import nn

torch.manual_seed(59)


class Net(nn.Module):
    def __init__(s):
        super().__init__()
        s.backbone = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        s.head = nn.Linear(16, 2)

    def forward(s, x):
        return s.head(s.backbone(x))


m = Net()
for n, p in m.named_parameters():
    p.requires_grad = "head" in n
o = torch.optim.Adam(m.parameters(), 1e-2)
for ep in range(6):
    if ep == 2:
        m.backbone.requires_grad = True  # EXPECT: parameter-not-optimized
    for i in range(15):
        x = torch.randn(32, 6)
        y = (x[:, 0] > 0).long()
        o.zero_grad()
        nn.functional.cross_entropy(m(x), y).backward()
        o.step()
print("ok")
