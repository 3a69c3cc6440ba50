"""Its optimizer rests with it."""
import torch
from torch import nn

torch.manual_seed(20)
G = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
og = torch.optim.Adam(G.parameters(), lr=1e-3)
od = torch.optim.Adam(D.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(16, 1), torch.zeros(16, 1)
for step in range(480):
    real = torch.randn(16, 2) * 0.3 + 1
    fake = G(torch.randn(16, 3))
    regression_only = step >= 320
    od.zero_grad()
    if not regression_only:
        d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)
        d_loss.backward()
        od.step()
    og.zero_grad()
    if regression_only:
        g_loss = (fake.mean(0) - real.mean(0)).abs().sum()
    else:
        for p in D.parameters():
            p.requires_grad_(False)
        g_loss = bce(D(fake), ones)
        for p in D.parameters():
            p.requires_grad_(True)
    g_loss.backward()
    og.step()
print(g_loss.item())
