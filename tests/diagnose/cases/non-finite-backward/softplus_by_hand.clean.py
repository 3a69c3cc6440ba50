"""Legitimate twin: the exponent is bounded before exp, the selection stays."""
import torch
from torch import nn

torch.manual_seed(35)


def softplus(x, threshold=20.0):
    soft = torch.log1p(torch.exp(x.clamp(max=threshold)))
    return torch.where(x > threshold, x, soft)


class CountModel:
    """Poisson regression with hand-kept weights."""

    def __init__(self, features):
        self.weight = (torch.randn(features) * 0.1).requires_grad_()
        self.bias = torch.zeros(1, requires_grad=True)

    def parameters(self):
        return [self.weight, self.bias]

    def rate(self, x):
        return softplus(x @ self.weight + self.bias) + 1e-4


x = torch.randn(100, 3)
x[40] = torch.tensor([900.0, -800.0, 700.0])
model = CountModel(3)
with torch.no_grad():
    model.weight.copy_(torch.tensor([0.1, -0.1, 0.1]))
counts = torch.poisson(nn.functional.softplus(x @ torch.tensor([0.3, -0.2, 0.1])))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
for step in range(30):
    rate = model.rate(x)
    loss = nn.functional.poisson_nll_loss(rate, counts, log_input=False)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
