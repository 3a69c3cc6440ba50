"""Smoothness penalties of each sequence go through Python floats."""
import torch
from torch import nn

torch.manual_seed(67)
gru, out = nn.GRU(3, 10, batch_first=True), nn.Linear(10, 3)
opt = torch.optim.AdamW([*gru.parameters(), *out.parameters()], lr=3e-3)
for it in range(40):
    x = torch.randn(8, 12, 3).cumsum(1) / 4
    h, _ = gru(x[:, :-1])
    error = (out(h) - x[:, 1:]).square().mean((1, 2))
    rough = [(s[1:] - s[:-1]).norm() for s in h]
    loss = (error + 0.01 * torch.stack(rough)).sum() / 8
    opt.zero_grad()
    loss.backward()
    opt.step()
print("done")
