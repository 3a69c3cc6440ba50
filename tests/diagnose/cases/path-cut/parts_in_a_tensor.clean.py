"""Losses are collected with torch.Tensor, which keeps numbers only."""
import torch
from torch import nn

torch.manual_seed(10)
net, weigh = nn.Linear(4, 2), nn.Linear(2, 1)
opt = torch.optim.Adam([*net.parameters(), *weigh.parameters()], 1e-2)
for _ in range(30):
    x = torch.randn(16, 4)
    o = net(x)
    parts = [(o[:, i] - x[:, i]).square().mean() for i in range(2)]
    vec = torch.stack(parts)
    loss = nn.functional.softplus(weigh(vec)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
