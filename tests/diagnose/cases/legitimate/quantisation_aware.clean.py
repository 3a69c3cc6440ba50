"""Must stay silent: quantisation-aware training; a custom Function rounds forward and passes the gradient straight through."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(138)


class FakeQuantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        return torch.round(x / scale).clamp(-8, 7) * scale

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


class QuantLinear(nn.Linear):
    def forward(self, x):
        scale = self.weight.detach().abs().max() / 7
        return F.linear(x, FakeQuantise.apply(self.weight, scale), self.bias)


x = torch.randn(200, 10)
y = x[:, :4].argmax(1)
model = nn.Sequential(QuantLinear(10, 32), nn.ReLU(), QuantLinear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    for rows in torch.randperm(200).split(25):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, round(loss.item(), 4))
