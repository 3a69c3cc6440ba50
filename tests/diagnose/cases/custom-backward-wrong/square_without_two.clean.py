"""Legitimate twin: the derivative is 2x times the incoming gradient."""
import torch
from torch import nn

torch.manual_seed(81)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x


class Quadratic(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 12)
        self.out = nn.Linear(12, 1)

    def forward(self, x):
        return self.out(Square.apply(self.lin(x)))


x = torch.randn(128, 4)
y = (x[:, :1] * x[:, 1:2]) - x[:, 2:3] ** 2
model = Quadratic()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for step in range(50):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
