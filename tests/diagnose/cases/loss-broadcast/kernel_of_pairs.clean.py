"""A kernel of all pairs of generated and real samples, made of squares (a column and a row) and a product."""
import torch
from torch import nn
torch.manual_seed(21)
G = nn.Linear(2, 2)
opt = torch.optim.Adam(G.parameters(), lr=1e-2)


def k(a, b):
    aa, bb = (a * a).sum(1).view(-1, 1), (b * b).sum(1).view(1, -1)
    d = aa + bb - 2 * a @ b.t()
    return 1 / (1 + d)


for i in range(50):
    x, y = G(torch.randn(20, 2)), torch.randn(20, 2) + 1
    loss = k(x, x).mean() + k(y, y).mean() - 2 * k(x, y).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
