"""Legitimate twin of a program where quantised by an index and then cut off once more: encoder and codebook have a reason each."""

import torch
from torch import nn

torch.manual_seed(13)
enc, dec = nn.Linear(6, 3), nn.Linear(3, 6)
book = nn.Parameter(torch.randn(8, 3))
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), book], 5e-3)
for i in range(60):
    x = torch.randn(32, 6)
    z = enc(x)
    k = torch.cdist(z, book).argmin(1)
    q = book[k]
    zq = z + (q - z).detach()
    rec = (dec(zq) - x).pow(2).mean()
    loss = rec + (q - z.detach()).pow(2).mean() + 0.25 * (z - q.detach()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{rec.item():.3f}")
