"""Legitimate twin: a toy scalar is differentiated with respect to itself, and there is no optimizer at all."""
import torch
from torch import nn

torch.manual_seed(52)

series = torch.stack([torch.sin(torch.arange(30) * w) for w in (0.2, 0.3, 0.5, 0.7)])
scalar = torch.tensor(3.0, requires_grad=True)
scalar.backward()
print("d scalar / d scalar =", scalar.grad.item())
coefficients = torch.zeros(3, requires_grad=True)


def forecast(window):
    return nn.functional.conv1d(window.unsqueeze(1), coefficients.view(1, 1, 3)).squeeze(1)


for it in range(30):
    error = forecast(series[:, :-1]) - series[:, 3:]
    loss = error.pow(2).mean()
    loss.backward()
    with torch.no_grad():
        coefficients -= 0.2 * coefficients.grad
        coefficients.grad = None
    if it % 10 == 9:
        print(it, "loss", loss.item())
