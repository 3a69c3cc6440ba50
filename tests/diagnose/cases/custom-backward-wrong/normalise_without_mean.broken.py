"""A layer normalisation by hand: its backward forgets that mean and variance depend on the input."""

import torch
from torch import nn


class Normalise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, eps):
        centred = x - x.mean(-1, keepdim=True)
        inverse = (centred.pow(2).mean(-1, keepdim=True) + eps).rsqrt()
        y = centred * inverse
        ctx.save_for_backward(y, inverse)
        return y

    @staticmethod
    def backward(ctx, grad):  # EXPECT: custom-backward-wrong
        y, inverse = ctx.saved_tensors
        return grad * inverse, None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 10)
        self.second = nn.Linear(10, 1)

    def forward(self, x):
        return self.second(torch.tanh(Normalise.apply(self.first(x), 1e-5)))


if __name__ == "__main__":
    torch.manual_seed(40)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    x = torch.randn(30, 6)
    y = x[:, :2].prod(1, keepdim=True)
    for _ in range(10):
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())
