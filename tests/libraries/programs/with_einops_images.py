"""einops: pixel shuffling, groups of channels, recurrent columns, under vmap and gradcheck."""

import torch
import torch.nn.functional as F
from einops import rearrange, reduce
from einops.layers.torch import Rearrange
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(
    nn.Conv2d(1, 16, 5, padding=2),
    nn.ReLU(),
    nn.Conv2d(16, 9, 3, padding=1),
    Rearrange("b (h2 w2) h w -> b (h h2) (w w2)", h2=3, w2=3),
)
o = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
hi = torch.rand(4, 18, 18)
lo = reduce(hi, "b (h p) (w q) -> b 1 h w", "mean", p=3, q=3)
for i in range(5):
    l = F.mse_loss(net(lo), hi)
    o.zero_grad()
    l.backward()
    o.step()
    print(l.item())


def shuffle(x, g):
    return rearrange(x, "b (c1 c2) h w -> b (c2 c1) h w", c1=g)


print(shuffle(torch.arange(8.0).view(1, 8, 1, 1), 2).flatten().tolist())
g = nn.GRU(12, 7, batch_first=True, bidirectional=True)
x = torch.randn(2, 3, 4, 5)
out, h = g(rearrange(x, "b c h w -> b w (c h)"))
print(out.shape, reduce(out, "b t (d f) -> b d", "mean", d=2).tolist(), rearrange(h, "d b f -> b (d f)").sum().item())
a = torch.randn(3, 4, 5, dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(lambda t: reduce(rearrange(t, "a b c -> c (b a)"), "c (k r) -> k", "mean", k=4), (a,)))
gram = lambda y: torch.einsum("bchw,bdhw->bcd", [y, y]) / (y.shape[2] * y.shape[3])
print(gram(x).sum().item())
print(torch.vmap(lambda t: rearrange(t, "h w -> (w h)"))(torch.arange(12).view(2, 2, 3)).tolist())
