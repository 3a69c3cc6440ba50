"""torchsde: general and diagonal noise, every method, the adjoint."""

import torch
import torchsde
from torch import nn

torch.manual_seed(0)


class S(nn.Module):
    noise_type, sde_type = "general", "ito"

    def __init__(s):
        super().__init__()
        s.mu = nn.Linear(3, 3)
        s.sig = nn.Linear(3, 6)

    def f(s, t, y):
        return s.mu(y)

    def g(s, t, y):
        return s.sig(y).view(-1, 3, 2)


s = S()
y0 = torch.full((4, 3), 0.1)
ts = torch.linspace(0, 1, 6)
bm = torchsde.BrownianInterval(t0=0.0, t1=1.0, size=(4, 2), entropy=42, dtype=torch.float32)
ys = torchsde.sdeint(s, y0, ts, bm=bm, dt=0.05, method="euler")
l = ys.pow(2).mean()
l.backward()
print(ys.shape, l.item(), s.mu.weight.grad.norm().item())


class D(nn.Module):
    noise_type, sde_type = "diagonal", "stratonovich"

    def __init__(s):
        super().__init__()
        s.th = nn.Parameter(torch.tensor(0.5))
        s.m = nn.Parameter(torch.tensor(1.0))
        s.s = nn.Parameter(torch.tensor(0.3))

    def f(s, t, y):
        return s.th * (s.m - y)

    def g(s, t, y):
        return s.s * y


for meth in ("midpoint", "heun", "reversible_heun"):
    d = D()
    bm = torchsde.BrownianInterval(t0=0.0, t1=1.0, size=(4, 3), entropy=7, dtype=torch.float32)
    ys = torchsde.sdeint_adjoint(
        d,
        y0,
        ts,
        bm=bm,
        dt=0.1,
        method=meth,
        adjoint_method="adjoint_reversible_heun" if meth == "reversible_heun" else None,
    )
    l = ys[-1].mean()
    l.backward()
    print(meth, l.item(), [p.grad.item() for p in d.parameters()])


class Ito(D):
    sde_type = "ito"


for meth in ("milstein", "srk"):
    d = Ito()
    bm = torchsde.BrownianInterval(
        t0=0.0, t1=1.0, size=(4, 3), entropy=3, levy_area_approximation="space-time", dtype=torch.float32
    )
    ys = torchsde.sdeint(d, y0, ts, bm=bm, dt=0.1, method=meth)
    l = ys[-1].mean()
    l.backward()
    print(meth, l.item(), [p.grad.item() for p in d.parameters()])
