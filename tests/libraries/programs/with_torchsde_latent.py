"""torchsde: a latent equation with a prior, and scalar noise in every Stratonovich method."""

import torch
import torchsde
from torch import nn

torch.manual_seed(0)


class Latent(torchsde.SDEIto):
    def __init__(s):
        super().__init__(noise_type="diagonal")
        s.f_net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
        s.register_buffer("theta", torch.tensor([[1.0]]))
        s.register_buffer("sigma", torch.tensor([[0.5]]))
        s.mu = nn.Parameter(torch.tensor([[0.1]]))

    def f(s, t, y):
        t = torch.full_like(y, float(t))
        return s.f_net(torch.cat([torch.sin(t), torch.cos(t), y], 1))

    def g(s, t, y):
        return s.sigma.repeat(y.size(0), 1)

    def h(s, t, y):
        return s.theta * (s.mu - y)


sde = Latent()
o = torch.optim.Adam(sde.parameters(), 0.01)
ts = torch.linspace(0, 1, 6)
tgt = torch.sin(2 * ts).view(-1, 1, 1)
for adj in (False, True):
    for i in range(3):
        fn = torchsde.sdeint_adjoint if adj else torchsde.sdeint
        bm = torchsde.BrownianInterval(0.0, 1.0, size=(32, 2), entropy=i)
        ys, lr = fn(sde, torch.zeros(32, 1), ts, bm=bm, dt=0.05, method="euler", logqp=True)
        l = ((ys - tgt) ** 2).mean() + 0.01 * lr.sum(0).mean()
        o.zero_grad()
        l.backward()
        o.step()
        print(adj, l.item())


class S(nn.Module):
    noise_type = "scalar"
    sde_type = "stratonovich"

    def __init__(s):
        super().__init__()
        s.a = nn.Parameter(torch.tensor(0.3))
        s.b = nn.Parameter(torch.tensor(0.4))

    def f(s, t, y):
        return -s.a * y

    def g(s, t, y):
        return (s.b * torch.cos(y)).unsqueeze(-1)


s = S()
for m in ("heun", "midpoint", "euler_heun", "reversible_heun"):
    bm = torchsde.BrownianInterval(0.0, 1.0, size=(4, 1), entropy=5, levy_area_approximation="none")
    y = torchsde.sdeint(s, torch.ones(4, 2), torch.linspace(0, 1, 3), bm=bm, dt=0.1, method=m)
    y[-1].sum().backward()
    print(m, y[-1].sum().item(), s.a.grad.item(), s.b.grad.item())
    s.zero_grad()
bm = torchsde.BrownianInterval(0.0, 1.0, size=(4, 2), entropy=9, levy_area_approximation="space-time")
print(bm(0.2, 0.6, return_U=True)[1].sum().item(), bm(0.1, 0.3).sum().item())
path = torchsde.BrownianPath(t0=0.0, w0=torch.zeros(3, 1))
print(path(0.0, 0.5).shape)
y = torchsde.sdeint_adjoint(
    s,
    torch.ones(4, 2),
    torch.linspace(0, 1, 3),
    bm=torchsde.BrownianInterval(0.0, 1.0, size=(4, 1), entropy=5),
    dt=0.1,
    method="reversible_heun",
    adjoint_method="adjoint_reversible_heun",
)
y[-1].sum().backward()
print(s.a.grad.item())
