"""both GAN losses go into a history dict as tensors, one of them being the sum that is made for the log only."""
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(44)
G = nn.Sequential(nn.Linear(4, 24), nn.LeakyReLU(0.2), nn.Linear(24, 2))
D = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.9))
history = defaultdict(list)


def bce(logits, label):
    return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, label))


def discriminator_step(real, fake):
    opt_d.zero_grad()
    on_real, on_fake = bce(D(real), 1.0), bce(D(fake), 0.0)
    on_real.backward()
    on_fake.backward()
    opt_d.step()
    history["d"].append(on_real + on_fake)  # EXPECT: graphs-accumulate


for step in range(50):
    angle = 6.28 * torch.rand(32)
    real = torch.stack([angle.cos(), angle.sin()], 1)
    fake = G(torch.randn(32, 4))
    discriminator_step(real, fake.detach())
    opt_g.zero_grad()
    g_loss = bce(D(fake), 1.0)
    g_loss.backward()
    opt_g.step()
    history["g"].append(g_loss.item())
print("d", round(float(history["d"][-1]), 4), "g", round(history["g"][-1], 4), "steps", len(history["d"]))
