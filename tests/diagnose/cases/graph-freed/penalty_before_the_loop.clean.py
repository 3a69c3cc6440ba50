"""Legitimate twin: the penalty is computed in every step."""
import torch
from torch import nn

torch.manual_seed(33)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(60, 5)
y = x @ torch.randn(5, 1)
for rows in torch.randperm(60).split(12):
    penalty = model.weight.pow(2).sum()
    loss = nn.functional.mse_loss(model(x[rows]), y[rows]) + 1e-3 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
