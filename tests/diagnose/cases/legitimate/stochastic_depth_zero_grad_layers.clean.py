"""Must stay silent: stochastic depth zero grad layers."""
import random
import torch
from torch import nn
random.seed(1)
torch.manual_seed(24)
blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(6))
opt = torch.optim.Adam(blocks.parameters(), 1e-3)
for _ in range(60):
    x = h = torch.randn(16, 8)
    for b in blocks:
        if random.random() < 0.7:
            h = h + torch.relu(b(h))
    loss = (h - 2 * x).pow(2).mean()
    if not loss.requires_grad:
        continue
    opt.zero_grad()
    loss.backward()
    opt.step()
print("depth")
