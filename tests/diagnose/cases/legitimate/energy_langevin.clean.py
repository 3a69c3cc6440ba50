"""Must stay silent: an energy-based model; Langevin dynamics follows the gradient of the input and keeps a buffer."""

import random

import torch
from torch import nn

torch.manual_seed(55)
random.seed(55)
energy = nn.Sequential(nn.Linear(2, 32), nn.Softplus(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(energy.parameters(), lr=1e-3, betas=(0.0, 0.999))
buffer = [torch.rand(2) * 2 - 1 for _ in range(64)]


def langevin(x, steps=8, size=0.1):
    for p in energy.parameters():
        p.requires_grad_(False)
    x = x.clone().requires_grad_(True)
    for _ in range(steps):
        (gradient,) = torch.autograd.grad(energy(x).sum(), x)
        with torch.no_grad():
            x -= size * gradient
            x += 0.01 * torch.randn_like(x)
            x.clamp_(-3, 3)
    for p in energy.parameters():
        p.requires_grad_(True)
    return x.detach()


for step in range(40):
    real = torch.randn(16, 2) * 0.2 + 0.5
    start = torch.stack(random.sample(buffer, 16))
    fake = langevin(start)
    buffer[:16] = list(fake.unbind(0))
    up, down = energy(real), energy(fake)
    loss = up.mean() - down.mean() + 0.1 * (up.pow(2) + down.pow(2)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item(), "difference", (up.mean() - down.mean()).item())
