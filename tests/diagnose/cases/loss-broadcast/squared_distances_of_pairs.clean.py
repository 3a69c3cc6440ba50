"""Squared distances of all pairs, made of squares and a product: |a|² + |b|² - 2 a·b (the distance of two distributions)."""
import torch
from torch import nn
torch.manual_seed(0)
G = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(G.parameters(), lr=5e-3)


def dist(a, b):
    d2 = (a ** 2).sum(1, keepdim=True) + (b ** 2).sum(1) - 2 * a @ b.T
    return torch.sqrt(d2.clamp(min=1e-6))


for i in range(60):
    fake, real = G(torch.randn(32, 3)), torch.randn(32, 2) * 0.5 + 2
    loss = 2 * dist(fake, real).mean() - dist(fake, fake).mean() - dist(real, real).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
