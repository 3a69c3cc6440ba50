"""A linear map of our own: the bias gradient is the mean over the batch."""
import torch
from torch import nn


class Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x, w)
        return x @ w.t() + b

    @staticmethod
    def backward(ctx, grad):  # EXPECT: custom-backward-wrong
        x, w = ctx.saved_tensors
        gx = grad @ w if ctx.needs_input_grad[0] else None
        return gx, grad.t() @ x, grad.mean(0)


class Layer(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.w, self.b = nn.Parameter(torch.randn(o, i) / i**0.5), nn.Parameter(torch.zeros(o))

    def forward(self, x):
        return Affine.apply(x, self.w, self.b)


torch.manual_seed(64)
net = nn.Sequential(Layer(5, 9), nn.Tanh(), Layer(9, 2))
opt = torch.optim.Adam(net.parameters(), 1e-2)
x = torch.randn(25, 5)
for _ in range(6):
    loss = (net(x) - x[:, :2]).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("layers")
