"""The generator's gradients are wiped by a zero_grad of a joint list before its step."""
import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
oG, oD = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
bce = nn.BCEWithLogitsLoss()
one, zero = torch.ones(32, 1), torch.zeros(32, 1)
for it in range(40):
    real = torch.randn(32, 2) * 0.3 + 1
    fake = G(torch.randn(32, 4))
    g_loss = bce(D(fake), one)
    g_loss.backward()
    oG.zero_grad()  # EXPECT: gradient-discarded
    oD.zero_grad()
    d_loss = bce(D(real), one) + bce(D(fake.detach()), zero)
    d_loss.backward()
    oD.step()
    if it % 2:
        oG.step()
print(g_loss.item(), d_loss.item())
