"""Dropout in a checkpoint whose random state is not kept."""
from functools import partial
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(62)
ckpt = partial(checkpoint, use_reentrant=False, preserve_rng_state=False)
blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Dropout(0.4)) for _ in range(3))
opt = torch.optim.Adam(blocks.parameters(), 1e-3)
for _ in range(8):
    x = h = torch.randn(16, 8)
    for b in blocks:
        h = h + ckpt(b, h)  # EXPECT: checkpoint-diverges
    loss = (h - x.flip(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("checkpointed")
