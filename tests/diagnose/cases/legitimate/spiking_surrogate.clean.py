"""Leaky neurons with a surrogate gradient, unrolled in time; the membrane is reset at every sequence."""
import torch
import torch.nn as nn


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, g):
        (v,) = ctx.saved_tensors
        return g / (1 + 5 * v.abs()) ** 2


torch.manual_seed(14)
w1, w2 = nn.Linear(6, 20), nn.Linear(20, 2)
opt = torch.optim.Adam([*w1.parameters(), *w2.parameters()], 5e-3)
for step in range(50):
    x = torch.rand(16, 10, 6)
    y = (x.mean((1, 2)) > 0.5).long()
    v, out = torch.zeros(16, 20), torch.zeros(16, 2)
    for t in range(10):
        v = 0.8 * v + w1(x[:, t])
        s = Spike.apply(v - 1.0)
        v = v - s.detach()
        out = out + w2(s)
    loss = nn.functional.cross_entropy(out / 10, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(round(loss.item(), 2) > 0)
