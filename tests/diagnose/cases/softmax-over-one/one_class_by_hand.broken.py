"""Weights are normalised by hand along an axis of one element."""
import torch
from torch import nn

torch.manual_seed(11)
score, value = nn.Linear(6, 1), nn.Linear(6, 3)
opt = torch.optim.Adam([*score.parameters(), *value.parameters()], 1e-2)
for i in range(60):
    x = torch.randn(8, 5, 6)
    e = score(x).exp()
    w = e / e.sum(-1, keepdim=True)  # EXPECT: softmax-over-one
    pooled = (w * value(x)).sum(1)
    loss = nn.functional.cross_entropy(pooled, x[:, 0, :3].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
