"""an energy model: samples are moved by the gradient of the energy with respect to the input."""
import torch
from torch import nn

torch.manual_seed(107)
energy = nn.Sequential(nn.Linear(2, 32), nn.SiLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(energy.parameters(), lr=1e-3)
buffer = torch.randn(64, 2)
for it in range(40):
    real = torch.randn(32, 2) * 0.3 + 1
    x = buffer[torch.randint(64, (32,))].clone().requires_grad_()
    for _ in range(4):
        (g,) = torch.autograd.grad(energy(x).sum(), x)
        x = (x - 0.1 * g + 0.05 * torch.randn_like(x)).detach().requires_grad_()
    fake = x.detach()
    buffer[:32] = fake
    loss = energy(real).mean() - energy(fake).mean() + 0.1 * (energy(real) ** 2 + energy(fake) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("end")
