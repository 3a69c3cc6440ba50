"""The derivative of a swish written by hand forgets a term."""
import torch
from torch import nn


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, beta):
        s = torch.sigmoid(beta * x)
        ctx.save_for_backward(x, s)
        ctx.beta = beta
        return x * s

    @staticmethod
    def backward(ctx, g):  # EXPECT: custom-backward-wrong
        x, s = ctx.saved_tensors
        return g * (s + x * s * (1 - s)), None


torch.manual_seed(63)
lin = nn.Linear(4, 4)
opt = torch.optim.SGD(lin.parameters(), 0.1)
for _ in range(5):
    x = torch.randn(10, 4)
    loss = (Swish.apply(lin(x), 1.7) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("swish")
