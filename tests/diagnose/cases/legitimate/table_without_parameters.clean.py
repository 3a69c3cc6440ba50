"""A loss of a fixed table has no history; that its neighbours were initialised by `.data` and compared has nothing to do with it."""

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(4, 4)
layer.weight.data.uniform_(-0.5, 0.5)
active = (layer.weight > 0).float().mean()
table = torch.arange(12.0).view(3, 4).sin()
with_gradients = []
for name, values in (("table", table), ("layer", layer(table))):
    try:
        values.pow(2).mean().backward()
        with_gradients.append(name)
    except RuntimeError:
        print(f"{name} has nothing to train")
print(with_gradients, active.item() > 0)
