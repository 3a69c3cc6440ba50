"""A custom softplus returns its derivative and forgets to multiply by the incoming gradient."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(82)


class SoftPlus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return F.softplus(x, beta=beta)

    @staticmethod
    def backward(ctx, grad_output):  # EXPECT: custom-backward-wrong
        (x,) = ctx.saved_tensors
        return torch.sigmoid(ctx.beta * x), None


class SoftPlusLayer(nn.Module):
    def __init__(self, beta=1.5):
        super().__init__()
        self.beta = beta

    def forward(self, x):
        return SoftPlus.apply(x, self.beta)


x = torch.rand(160, 5)
y = torch.exp(-x.sum(1, keepdim=True))
net = nn.Sequential(nn.Linear(5, 16), SoftPlusLayer(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for epoch in range(5):
    for xb, yb in zip(x.split(16), y.split(16)):
        optimizer.zero_grad()
        loss = F.mse_loss(net(xb), yb)
        loss.backward()
        optimizer.step()
    print("epoch", epoch, loss.item())
