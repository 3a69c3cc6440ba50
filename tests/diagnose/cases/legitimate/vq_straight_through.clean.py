"""Must stay silent: vq straight through."""
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(11)
enc, dec, book = nn.Linear(8, 4), nn.Linear(4, 8), nn.Embedding(16, 4)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), *book.parameters()], 5e-3)
x = torch.randn(100, 8)
for _ in range(40):
    z = enc(x)
    idx = torch.cdist(z, book.weight).argmin(1)
    e = book(idx)
    zq = z + (e - z).detach()
    loss = F.mse_loss(dec(zq), x) + F.mse_loss(e, z.detach()) + 0.25 * F.mse_loss(z, e.detach())
    opt.zero_grad()
    loss.backward()
    opt.step()
print("vq")
