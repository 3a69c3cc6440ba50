"""dict(model.state_dict()) copies the dictionary and not the tensors: the rewind after pruning loads the trained weights."""
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(212)


def train(model, mask, x, y, steps=20):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(steps):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            model[0].weight.mul_(mask)
    return loss.item()


def prune(weight, mask, share=0.3):
    alive = weight[mask.bool()].abs()
    cut = alive.sort().values[int(share * len(alive))]
    return mask * (weight.abs() > cut).float()


x = torch.randn(60, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 2))
initial = dict(model.state_dict())  # EXPECT: snapshot-aliased
mask = torch.ones_like(model[0].weight)
for level in range(3):
    print(level, int(mask.sum()), round(train(model, mask, x, y), 4))
    mask = prune(model[0].weight.detach(), mask)
    model.load_state_dict(initial)  # ALSO: snapshot-aliased
