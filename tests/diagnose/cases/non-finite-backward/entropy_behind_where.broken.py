"""Entropy of sparse weights: where() replaces 0 * log(0) in the forward, and the gradient is nan all the same."""

import torch
from torch import nn

torch.manual_seed(25)


class SparseGate(nn.Module):
    def __init__(self, width: int = 6, options: int = 4):
        super().__init__()
        self.score = nn.Linear(width, options)
        self.options = nn.Linear(width, options)

    def forward(self, x):
        raw = torch.relu(self.score(x)) + 0.0
        weights = raw / (raw.sum(1, keepdim=True) + 1e-6)
        return (weights * self.options(x)).sum(1), weights


def entropy(weights: torch.Tensor) -> torch.Tensor:
    terms = weights * weights.log()  # EXPECT: non-finite-backward
    return -torch.where(weights > 0, terms, torch.zeros_like(terms)).sum(1).mean()


x = torch.randn(40, 6)
y = x[:, 0].abs()
model = SparseGate()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for step in range(10):
    output, weights = model(x)
    loss = (output - y).pow(2).mean() + 0.01 * entropy(weights)
    optimizer.zero_grad()
    loss.backward()
    norm = sum(p.grad.norm().item() for p in model.parameters())
    optimizer.step()
    if step == 0:
        print("loss", loss.item(), "norm of the gradient", norm)
