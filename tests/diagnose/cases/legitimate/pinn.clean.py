"""Must stay silent: a physics-informed net; derivatives of the output by autograd.grad with ones, then used in the loss."""
import torch
from torch import nn

torch.manual_seed(136)
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)


def derivative(u, t):
    return torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]


for step in range(80):
    t = torch.rand(48, 1).requires_grad_(True)
    u = net(t)
    du = derivative(u, t)
    d2u = derivative(du, t)
    residual = d2u + 4.0 * u
    start = torch.zeros(1, 1, requires_grad=True)
    u0 = net(start)
    loss = residual.pow(2).mean() + (u0 - 1).pow(2).sum() + derivative(u0, start).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step, round(loss.item(), 4))
