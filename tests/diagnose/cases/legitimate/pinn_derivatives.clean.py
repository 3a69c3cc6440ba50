"""Must stay silent: pinn derivatives."""
import torch
from torch import nn
torch.manual_seed(20)
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))
opt = torch.optim.Adam(net.parameters(), 2e-3)
for _ in range(40):
    t = torch.rand(32, 1, requires_grad=True)
    u = net(t)
    du, = torch.autograd.grad(u.sum(), t, create_graph=True)
    d2u, = torch.autograd.grad(du.sum(), t, create_graph=True)
    zero = torch.zeros(1, 1)
    loss = (d2u + u).pow(2).mean() + (net(zero) - 1).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("pinn")
