"""Weights are replaced by new ones, each of which hangs on all before it: a list of tensors."""
import torch

torch.manual_seed(101)
x = torch.randn(100, 3)
y = (x @ torch.tensor([1.0, -2.0, 0.5]))[:, None] + 0.3
weights = [torch.zeros(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)]


def objective(weights):
    w, b = weights
    return (x @ w + b - y).square().mean()


for step in range(80):
    slopes = torch.autograd.grad(objective(weights), weights)
    weights = [(w - 0.1 * g).detach().requires_grad_() for w, g in zip(weights, slopes)]
print(f"{objective(weights).item():.3f}")
