"""A product of matrices by hand: the weight's gradient is transposed, which square shapes do not show."""

import torch
from torch import nn
from torch.autograd import Function

torch.manual_seed(41)


class Product(Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    def backward(ctx, grad_output):  # EXPECT: custom-backward-wrong
        x, weight = ctx.saved_tensors
        grad_x = grad_weight = None
        if ctx.needs_input_grad[0]:
            grad_x = grad_output @ weight.t()
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t() @ x
        return grad_x, grad_weight


class Square(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(width) + 0.1 * torch.randn(width, width))

    def forward(self, x):
        return Product.apply(x, self.weight)


model = nn.Sequential(Square(5), nn.Tanh(), Square(5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(40, 5)
for step in range(12):
    loss = (model(x) - x.flip(1)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
