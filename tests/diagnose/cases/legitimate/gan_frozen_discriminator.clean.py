"""Must stay silent: requires_grad of the discriminator is switched off while the generator learns, and on again."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(103)


def set_requires_grad(net, value):
    for p in net.parameters():
        p.requires_grad_(value)


netG = nn.Sequential(nn.Linear(4, 20), nn.Tanh(), nn.Linear(20, 2))
netD = nn.Sequential(nn.Linear(2, 20), nn.LeakyReLU(0.2), nn.Linear(20, 1))
opt_g = torch.optim.Adam(netG.parameters(), lr=1e-3)
opt_d = torch.optim.Adam(netD.parameters(), lr=1e-3)
for step in range(50):
    angle = torch.rand(24) * 6.283
    real = torch.stack([angle.cos(), angle.sin()], dim=1)
    fake = netG(torch.randn(24, 4))

    set_requires_grad(netD, True)
    opt_d.zero_grad()
    d_loss = F.softplus(-netD(real)).mean() + F.softplus(netD(fake.detach())).mean()
    d_loss.backward()
    opt_d.step()

    set_requires_grad(netD, False)
    opt_g.zero_grad()
    g_loss = F.softplus(-netD(fake)).mean()
    g_loss.backward()
    opt_g.step()
    if step % 10 == 9:
        print(step, round(d_loss.item(), 4), round(g_loss.item(), 4))
