"""torchdiffeq: a continuous normalizing flow, a latent equation, stiff systems, jumps and gradients of times."""

import torch
import torch.nn as nn
from torchdiffeq import odeint, odeint_adjoint

torch.manual_seed(0)


class Dyn(nn.Module):
    def __init__(s):
        super().__init__()
        s.net = nn.Sequential(nn.Linear(3, 32), nn.Softplus(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(s, t, st):
        z, _ = st
        with torch.enable_grad():
            z = z.requires_grad_(True)
            f = s.net(torch.cat([z, t.expand(z.shape[0], 1)], 1))
            tr = 0.0
            for i in range(2):
                tr = tr + torch.autograd.grad(f[:, i].sum(), z, create_graph=True)[0][:, i]
        return (f, -tr.view(-1, 1))


d = Dyn()
o = torch.optim.Adam(d.parameters(), 0.01)
for i in range(3):
    x = torch.randn(16, 2) * torch.tensor([2.0, 0.5]) + 1
    z, lp = odeint_adjoint(
        d, (x, torch.zeros(16, 1)), torch.tensor([1.0, 0.0]), method="dopri5", atol=1e-05, rtol=1e-05
    )
    logp = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(z[-1]) - lp[-1].view(-1)
    l = -logp.mean()
    o.zero_grad()
    l.backward()
    o.step()
    print("cnf", l.item())


class Enc(nn.Module):
    def __init__(s):
        super().__init__()
        s.i2h = nn.Linear(3, 8)
        s.h2o = nn.Linear(8, 8)

    def forward(s, x, h):
        h = torch.tanh(s.i2h(x) + h)
        return (s.h2o(h), h)


enc = Enc()
f = nn.Sequential(nn.Linear(4, 16), nn.ELU(), nn.Linear(16, 4))
dec = nn.Linear(4, 3)
ps = list(enc.parameters()) + list(f.parameters()) + list(dec.parameters())
o = torch.optim.Adam(ps, 0.01)
t = torch.linspace(0, 1, 8)
data = torch.stack([torch.sin(3 * t), torch.cos(3 * t), t], 1).repeat(5, 1, 1) + 0.05 * torch.randn(5, 8, 3)
for i in range(3):
    h = torch.zeros(5, 8)
    for k in reversed(range(8)):
        out, h = enc(data[:, k], h)
    mu, lv = (out[:, :4], out[:, 4:])
    z0 = mu + torch.randn_like(mu) * (0.5 * lv).exp()
    zs = odeint(lambda t, y: f(y), z0, t, method="rk4", options=dict(step_size=0.1)).permute(1, 0, 2)
    l = ((dec(zs) - data) ** 2).sum((1, 2)).mean() + (-0.5 * (1 + lv - mu**2 - lv.exp()).sum(1)).mean()
    o.zero_grad()
    l.backward()
    o.step()
    print("latent", l.item())


class VdP(nn.Module):
    def __init__(s):
        super().__init__()
        s.mu = nn.Parameter(torch.tensor(2.0))

    def forward(s, t, y):
        return torch.stack([y[1], s.mu * (1 - y[0] ** 2) * y[1] - y[0]])


v = VdP()
y = odeint(v, torch.tensor([2.0, 0.0]), torch.linspace(0, 4, 9), rtol=1e-06, atol=1e-08)
print(y[-1].tolist())
y[-1].sum().backward()
print(v.mu.grad.item())
y = odeint(
    v, torch.tensor([2.0, 0.0], dtype=torch.float64), torch.linspace(1, 0, 5, dtype=torch.float64), method="dopri8"
)
print(y[-1].tolist())
y = odeint_adjoint(
    v, torch.tensor([2.0, 0.0]), torch.linspace(0, 2, 5), method="implicit_adams", options=dict(step_size=0.05)
)
print(y[-1].tolist())
y = odeint(v, torch.tensor([1.0, 0.0]), torch.linspace(0, 2, 5), method="scipy_solver", options={"solver": "LSODA"})
print([round(a, 3) for a in y[-1].tolist()])
y = odeint(
    lambda t, y: torch.where(t > 0.5, torch.ones(1), -torch.ones(1)),
    torch.zeros(1),
    torch.tensor([0.0, 1.0]),
    options=dict(jump_t=torch.tensor([0.5])),
)
print(y.flatten().tolist())
t = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
y = odeint(v, torch.tensor([1.0, 1.0]), t)
y.sum().backward()
print(t.grad.tolist())
