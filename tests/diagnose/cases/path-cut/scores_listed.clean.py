"""Per-head scores are collected in a comprehension of numbers before they are averaged."""
import torch
from torch import nn

torch.manual_seed(3)
heads = nn.ModuleList(nn.Linear(8, 1) for _ in range(3))
body = nn.Linear(8, 8)
final = nn.Linear(3, 1)
opt = torch.optim.Adam([*heads.parameters(), *body.parameters(), *final.parameters()], lr=1e-2)
for it in range(30):
    x, y = torch.randn(8), torch.randn(1)
    h = torch.tanh(body(x))
    votes = torch.cat([head(h) for head in heads])
    loss = (final(votes) - y).square().sum() + 0.01 * h.square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
