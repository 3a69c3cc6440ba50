"""Must stay silent: own autograd ste and grl."""
import torch
from torch import nn
torch.manual_seed(60)
class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()
    @staticmethod
    def backward(ctx, g):
        return g
class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)
    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None
f, c, d = nn.Linear(5, 8), nn.Linear(8, 3), nn.Linear(8, 2)
opt = torch.optim.SGD([*f.parameters(), *c.parameters(), *d.parameters()], 0.05)
x, y, dom = torch.randn(30, 5), torch.arange(30) % 3, torch.arange(30) % 2
for _ in range(20):
    h = Round.apply(f(x) * 4) / 4
    loss = nn.functional.cross_entropy(c(h), y) + nn.functional.cross_entropy(d(Reverse.apply(h, 0.1)), dom)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("dann")
