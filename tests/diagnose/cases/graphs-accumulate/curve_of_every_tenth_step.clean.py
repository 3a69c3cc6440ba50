"""Legitimate twin: every tenth loss goes into the curve as a number."""
import torch
from torch import nn

torch.manual_seed(19)


def train():
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    curve = []
    for step in range(120):
        x = torch.randn(8, 4)
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            curve.append(loss.item())
    return [round(float(value), 4) for value in curve]


print(train())
