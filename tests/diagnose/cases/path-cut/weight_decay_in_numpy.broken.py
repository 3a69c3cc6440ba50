"""A penalty on the weights is summed up by NumPy: it is in the loss as a number and decays nothing."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(70)


def penalty(model: nn.Module):
    total = 0.0
    for weight in model.parameters():
        total += np.sum(weight.detach().numpy() ** 2)  # EXPECT: path-cut
    return total


model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 6)
y = (x[:, 0] > x[:, 1]).long()
sizes = []
for epoch in range(30):
    loss = nn.functional.cross_entropy(model(x), y) + 1e-3 * penalty(model)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    sizes.append(sum(np.linalg.norm(p.detach().numpy()) for p in model.parameters()))
print(loss.item(), sizes[-1])
