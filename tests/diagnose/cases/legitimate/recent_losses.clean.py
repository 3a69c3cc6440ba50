"""Must stay silent: the last ten losses in a list and the last dozen in a deque, graphs and all: both stay as small as they are."""
from collections import deque

import torch
from torch import nn

torch.manual_seed(54)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
recent, longer = [], deque(maxlen=12)
for step in range(80):
    x = torch.randn(4, 3)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    recent.append(loss)
    longer.append(loss)
    if len(recent) > 10:
        recent.pop(0)
print(round(sum(map(float, recent)) / 10, 4), round(sum(map(float, longer)) / len(longer), 4))
