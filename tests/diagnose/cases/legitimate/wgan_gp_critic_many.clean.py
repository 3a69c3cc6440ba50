"""Must stay silent: wgan gp critic many."""
import torch
from torch import nn
torch.manual_seed(1)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 1))
og, od = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
for it in range(15):
    for _ in range(5):
        real = torch.randn(32, 2) + 2
        fake = G(torch.randn(32, 4)).detach()
        e = torch.rand(32, 1)
        mix = (e * real + (1 - e) * fake).requires_grad_(True)
        (g,) = torch.autograd.grad(D(mix).sum(), mix, create_graph=True)
        loss = D(fake).mean() - D(real).mean() + 10 * (g.norm(dim=1) - 1).pow(2).mean()
        od.zero_grad()
        loss.backward()
        od.step()
    og.zero_grad()
    (-D(G(torch.randn(32, 4))).mean()).backward()
    og.step()
print("wgan")
