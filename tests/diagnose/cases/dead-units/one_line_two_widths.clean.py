"""Legitimate: one line rectifies products of two widths in the same pass, as distances between points do."""
import torch
from torch import nn

torch.manual_seed(5)


def similarity(a, b):
    return (a.tanh() @ b.tanh().T).relu()


model = nn.Linear(4, 6)
centres = nn.Parameter(torch.randn(9, 6))
optimizer = torch.optim.SGD([*model.parameters(), centres], lr=0.01)
for step in range(60):
    points = model(torch.randn(20, 4))
    loss = (similarity(points, centres).sigmoid().mean() - similarity(points, points[:7]).sigmoid().mean()) ** 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
