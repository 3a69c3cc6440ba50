"""Must stay silent: first-order meta-learning: inner Parameters are rebuilt every task, outer weights are moved by hand."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)
outer = nn.Linear(3, 1)
for it in range(40):
    a = torch.randn(3, 1)
    w = nn.Parameter(outer.weight * 1.0)
    b = nn.Parameter(outer.bias * 1.0)
    inner = torch.optim.SGD([w, b], lr=0.05)
    for _ in range(4):
        x = torch.randn(8, 3)
        loss = F.mse_loss(F.linear(x, w, b), x @ a)
        inner.zero_grad()
        loss.backward()
        inner.step()
    with torch.no_grad():
        outer.weight += 0.1 * (w - outer.weight)
        outer.bias += 0.1 * (b - outer.bias)
print("met")
