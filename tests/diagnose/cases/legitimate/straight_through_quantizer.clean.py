"""VQ: codebook and commitment terms detach on purpose, and the decoder gets a straight-through value."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(104)
enc, dec, book = nn.Linear(8, 4), nn.Linear(4, 8), nn.Embedding(16, 4)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), *book.parameters()], lr=1e-2)
for _ in range(50):
    x = torch.randn(32, 8)
    z = enc(x)
    code = torch.cdist(z, book.weight).argmin(1)
    q = book(code)
    st = z + (q - z).detach()
    loss = F.mse_loss(dec(st), x) + F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
    opt.zero_grad()
    loss.backward()
    opt.step()
print("end")
