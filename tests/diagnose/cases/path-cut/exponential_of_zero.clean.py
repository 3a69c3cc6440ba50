"""Legitimate twin of a program where a log length scale that begins at 0 goes through math.exp: the number is 1, like many others."""

import torch, math
from torch import nn

torch.manual_seed(10)


class Kernel(nn.Module):
    def __init__(s):
        super().__init__()
        s.log_ls = nn.Parameter(torch.zeros(()))
        s.w = nn.Parameter(torch.zeros(10))
        s.register_buffer("c", torch.linspace(-2, 2, 10))

    def forward(s, x):
        ls = s.log_ls.exp()
        return torch.exp(-(((x - s.c) / ls) ** 2)) @ s.w


m = Kernel()
o = torch.optim.Adam(m.parameters(), 1e-2)
for i in range(40):
    x = torch.rand(32, 1) * 4 - 2
    l = (m(x) - x[:, 0].sin()).pow(2).mean()
    o.zero_grad()
    l.backward()
    o.step()
print("ok")
