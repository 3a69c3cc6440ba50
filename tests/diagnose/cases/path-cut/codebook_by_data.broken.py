"""quantised by an index and then cut off once more: encoder and codebook have a reason each."""

import torch
from torch import nn

torch.manual_seed(13)
enc, dec = nn.Linear(6, 3), nn.Linear(3, 6)
book = nn.Parameter(torch.randn(8, 3))
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), book], 5e-3)
for i in range(60):
    x = torch.randn(32, 6)
    z = enc(x)
    k = torch.cdist(z, book).argmin(1)  # EXPECT: path-cut
    q = book[k]
    zq = q.data  # EXPECT: path-cut
    rec = (dec(zq) - x).pow(2).mean()
    loss = rec
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{rec.item():.3f}")
