"""A table of scores is filled every 260 steps in eval mode, the first time long after training has settled."""

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(31)

x = torch.randn(500, 8)
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(8, 40), nn.ReLU(), nn.Dropout(0.3), nn.Linear(40, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scores = {}


def score(rows):
    model.eval()
    with torch.no_grad():
        right = (model(x[rows]).argmax(1) == y[rows]).float().mean()
    model.train()
    return right


for step in range(1, 901):
    rows = torch.randint(0, 400, (25,))
    loss = F.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 260 == 0:
        scores[step] = score(slice(400, 500)).item()
print(scores)
