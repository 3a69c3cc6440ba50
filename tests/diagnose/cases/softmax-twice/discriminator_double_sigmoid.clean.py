"""Legitimate twin: the discriminator returns logits; the generator ends in a sigmoid because its output is a picture."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(36)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))

    def forward(self, x):
        return self.body(x)


def gan_loss(verdict, real):
    label = torch.ones_like(verdict) if real else torch.zeros_like(verdict)
    return F.binary_cross_entropy_with_logits(verdict, label)


G = nn.Sequential(nn.Linear(4, 24), nn.LeakyReLU(0.2), nn.Linear(24, 16), nn.Sigmoid())
D = Discriminator()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))
for step in range(50):
    real = torch.rand(32, 1) * torch.linspace(0, 1, 16)
    fake = G(torch.randn(32, 4))
    opt_d.zero_grad()
    d_loss = gan_loss(D(real), True) + gan_loss(D(fake.detach()), False)
    d_loss.backward()
    opt_d.step()
    opt_g.zero_grad()
    g_loss = gan_loss(D(fake), True)
    g_loss.backward()
    opt_g.step()
    if step % 10 == 9:
        print("step", step, "d", round(d_loss.item(), 4), "g", round(g_loss.item(), 4))
