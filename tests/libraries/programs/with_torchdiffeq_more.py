"""torchdiffeq: every method, training through the adjoint, events."""

import torch
import torch.nn as nn
from torchdiffeq import odeint, odeint_adjoint, odeint_event

torch.manual_seed(0)


class F(nn.Module):
    def __init__(s):
        super().__init__()
        s.net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 2))
        s.nfe = 0
        for m in s.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, 0)

    def forward(s, t, y):
        s.nfe += 1
        return s.net(y**3)


A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
y0 = torch.tensor([[2.0, 0.0]])
t = torch.linspace(0.0, 5.0, 40)
with torch.no_grad():
    true = odeint(lambda t, y: (y**3) @ A, y0, t, method="dopri5")
print(true.norm().item())
for meth in (
    "dopri5",
    "adaptive_heun",
    "bosh3",
    "fehlberg2",
    "dopri8",
    "euler",
    "midpoint",
    "rk4",
    "heun3",
    "explicit_adams",
    "implicit_adams",
    "fixed_adams",
):
    f = F()
    p = odeint(f, y0, t[:10], method=meth, rtol=1e-5, atol=1e-6)
    l = (p - true[:10]).abs().mean()
    l.backward()
    print(meth, f.nfe, l.item(), f.net[0].weight.grad.norm().item())
f = F()
o = torch.optim.RMSprop(f.parameters(), lr=1e-3)
for i in range(8):
    o.zero_grad()
    s = torch.randperm(30)[:5]
    b0 = true[s]
    bt = t[:10]
    p = odeint_adjoint(f, b0, bt)
    tb = torch.stack([true[s + i] for i in range(10)])
    l = (p - tb).abs().mean()
    l.backward()
    o.step()
    print(l.item())
g = torch.tensor(9.8, requires_grad=True)


def fall(t, s):
    return (s[1], -g * torch.ones_like(s[1]))


et, sol = odeint_event(
    fall,
    (torch.tensor([10.0]), torch.tensor([0.0])),
    torch.tensor(0.0),
    event_fn=lambda t, s: s[0],
    atol=1e-8,
    rtol=1e-8,
)
print(et.item(), sol[1][-1].item())
et.backward()
print(g.grad.item())
