"""Must stay silent: the generator's loss shows the distance: the critic's score of real data is a constant in it."""
import torch
from torch import nn

torch.manual_seed(1)
x = torch.randn(96, 6)
G = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 6))
D = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
og = torch.optim.RMSprop(G.parameters(), lr=1e-3)
od = torch.optim.RMSprop(D.parameters(), lr=1e-3)
for step in range(30):
    for _ in range(2):
        fake = G(torch.randn(24, 3)).detach()
        ld = D(fake).mean() - D(x[:24]).mean()
        od.zero_grad()
        ld.backward()
        od.step()
    with torch.no_grad():
        real = D(x[:24]).mean()
    lg = real - D(G(torch.randn(24, 3))).mean()
    og.zero_grad()
    lg.backward()
    og.step()
