"""Must stay silent: GAN with a lazy R1 penalty, spectral norm, an averaged generator and sampling during training."""
import copy
import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

torch.manual_seed(12)
G = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2))
D = nn.Sequential(spectral_norm(nn.Linear(2, 32)), nn.LeakyReLU(0.2), spectral_norm(nn.Linear(32, 1)))
avg = copy.deepcopy(G).eval()
og, od = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
sp = nn.functional.softplus
for it in range(70):
    real = torch.randn(32, 2) * 0.1 + 1
    fake = G(torch.randn(32, 4))
    od.zero_grad(set_to_none=True)
    loss_d = sp(D(fake.detach())).mean() + sp(-D(real)).mean()
    loss_d.backward()
    if it % 8 == 0:
        real.requires_grad_(True)
        (g,) = torch.autograd.grad(D(real).sum(), real, create_graph=True)
        (5.0 * g.pow(2).sum(1).mean() * 8).backward()
    od.step()
    og.zero_grad(set_to_none=True)
    D.requires_grad_(False)
    sp(-D(fake)).mean().backward()
    D.requires_grad_(True)
    og.step()
    with torch.no_grad():
        for p, q in zip(avg.parameters(), G.parameters()):
            p.lerp_(q, 0.02)
        if it % 20 == 0:
            avg(torch.randn(8, 4))
print("sampled")
