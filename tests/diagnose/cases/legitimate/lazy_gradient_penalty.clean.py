"""Must stay silent: frozen by turns, a penalty every sixteenth step with a step of its own."""

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(22)
G = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
go, do = (
    torch.optim.Adam(G.parameters(), 1e-3, betas=(0.0, 0.99)),
    torch.optim.Adam(D.parameters(), 1e-3, betas=(0.0, 0.99)),
)


def requires_grad(m, flag):
    for p in m.parameters():
        p.requires_grad = flag


for i in range(60):
    real = torch.randn(32, 2) * 0.1 + torch.tensor([1.0, -1.0])
    requires_grad(G, False)
    requires_grad(D, True)
    fake = G(torch.randn(32, 4))
    dl = F.softplus(-D(real)).mean() + F.softplus(D(fake)).mean()
    D.zero_grad()
    dl.backward()
    do.step()
    if i % 16 == 0:
        real.requires_grad_(True)
        p = D(real)
        (g,) = torch.autograd.grad(p.sum(), real, create_graph=True)
        r1 = g.pow(2).sum(1).mean()
        D.zero_grad()
        (5 * r1 * 16 + 0 * p[0]).sum().backward()
        do.step()
    requires_grad(G, True)
    requires_grad(D, False)
    gl = F.softplus(-D(G(torch.randn(32, 4)))).mean()
    G.zero_grad()
    gl.backward()
    go.step()
print(f"{dl.item():.3f} {gl.item():.3f} {r1.item():.3f}")
