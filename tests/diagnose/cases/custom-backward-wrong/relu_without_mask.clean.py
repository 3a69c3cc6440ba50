"""Legitimate twin: the mask is there; a sign with a straight-through gradient and a reversal are meant to differ."""
import torch
from torch import nn

torch.manual_seed(86)


class SquaredReLU(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.clamp(min=0) ** 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x.clamp(min=0)


class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x.abs() <= 1)


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return -0.1 * grad_output


model = nn.Sequential(nn.Linear(4, 16), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    x = torch.randn(20, 4)
    drive = model[0](x)
    hidden = SquaredReLU.apply(drive) + 0.1 * Sign.apply(drive) + 0.1 * Reverse.apply(drive)
    loss = nn.functional.mse_loss(model[1](hidden), x[:, :1].abs())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
