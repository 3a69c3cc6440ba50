"""Must stay silent: attention fully masked rows."""
import torch
from torch import nn
torch.manual_seed(23)
att, out = nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 1)
opt = torch.optim.Adam([*att.parameters(), *out.parameters()], 1e-3)
mask = torch.triu(torch.full((6, 6), float("-inf")), 1)
for _ in range(20):
    x = torch.randn(10, 6, 8)
    h, _ = att(x, x, x, attn_mask=mask, need_weights=False)
    loss = (out(h) - x.cumsum(1)[..., :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("masked")
