"""Legitimate twin: the closure is given numbers."""
import torch
from torch import nn

torch.manual_seed(49)


def make_logger():
    total = 0.0

    def log(value):
        nonlocal total
        total = total + value
        return float(total)

    return log


model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
log = make_logger()
for step in range(50):
    x = torch.randn(4, 3)
    loss = (model(x).tanh() - 0.5).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total = log(loss.item())
print("mean", round(total / 50, 4))
