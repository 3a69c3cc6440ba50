"""a smoothness term gets a pass of its own every sixth batch, before the step that uses it."""

import torch
from torch import nn

torch.manual_seed(311)
field = nn.Sequential(nn.Linear(2, 20), nn.SiLU(), nn.Linear(20, 1))
optimizer = torch.optim.AdamW(field.parameters(), lr=5e-3)
table = torch.rand(240, 2)
height = (3 * table[:, :1]).sin() + table[:, 1:] ** 2


def roughness(points):
    shifted = points + 0.02 * torch.randn_like(points)
    return (field(points) - field(shifted)).square().mean()


losses = []
for number, rows in enumerate(torch.randperm(240 * 6).remainder(240).split(18)):
    optimizer.zero_grad()
    loss = (field(table[rows]) - height[rows]).square().mean()
    loss.backward()
    if number % 6 == 5:
        (30.0 * roughness(table[rows])).backward()
    optimizer.step()
    losses.append(loss.item())
print(round(losses[0], 3), round(losses[-1], 3))
