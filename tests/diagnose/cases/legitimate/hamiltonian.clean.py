"""A Hamiltonian network: its derivative by the inputs is the model."""
import torch
import torch.nn as nn

torch.manual_seed(15)
H = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(H.parameters(), 5e-3)


def field(z):
    z = z.requires_grad_(True)
    (g,) = torch.autograd.grad(H(z).sum(), z, create_graph=True)
    return torch.stack([g[:, 1], -g[:, 0]], 1)


for step in range(60):
    z = torch.randn(32, 2)
    target = torch.stack([z[:, 1], -z[:, 0]], 1)
    loss = (field(z) - target).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(round(loss.item(), 2) >= 0)
