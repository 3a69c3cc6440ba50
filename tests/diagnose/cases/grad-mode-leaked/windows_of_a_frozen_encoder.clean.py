"""A generator of anchors leaves no_grad before it yields."""

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(12)

encoder = nn.Sequential(nn.Linear(5, 16), nn.Tanh()).requires_grad_(False)
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh())
head = nn.Linear(16, 2)
projector = nn.Linear(16, 16)
x = torch.randn(240, 5)
y = (x[:, 0] * x[:, 1] > 0).long()


def anchors(size):
    for _ in range(10_000):
        rows = torch.randint(0, 240, (size,))
        with torch.no_grad():
            goal = encoder(x[rows])
        yield x[rows], goal


@torch.enable_grad()
def supervised(rows):
    return F.cross_entropy(head(model(x[rows])), y[rows])


parameters = [*model.parameters(), *head.parameters(), *projector.parameters()]
optimizer = torch.optim.Adam(parameters, lr=2e-3)
stream = None
for step in range(120):
    if step == 3:
        stream = anchors(16)
    anchored = 0.0
    if stream is not None:
        view, goal = next(stream)
        anchored = (projector(model(view)) - goal).square().mean()
    with torch.enable_grad():
        loss = supervised(torch.randint(0, 240, (16,))) + 0.3 * anchored
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
