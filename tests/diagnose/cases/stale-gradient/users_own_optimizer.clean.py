"""Legitimate twin of a program where an optimizer of the user's own, whose gradients nobody clears."""

import torch
from torch import nn

torch.manual_seed(67)


class MySGD(torch.optim.Optimizer):
    def __init__(s, ps, lr):
        super().__init__(ps, {"lr": lr})

    @torch.no_grad()
    def step(s):
        for g in s.param_groups:
            for p in g["params"]:
                if p.grad is None:
                    continue
                st = s.state[p]
                st["v"] = st.get("v", torch.zeros_like(p)) * 0.9 + p.grad
                p.sub_(g["lr"] * st["v"])


m = nn.Linear(3, 1)
o = MySGD(m.parameters(), 1e-3)


def fit(steps):
    for i in range(steps):
        x = torch.randn(16, 3)
        l = (m(x) - x[:, :1]).pow(2).mean()
        m.zero_grad()
        l.backward()
        o.step()


fit(30)
print("ok")
