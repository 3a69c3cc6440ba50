"""torchviz: the graph of a computation as text."""

import re

import torch
from torchviz import make_dot

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
dot = make_dot(model(torch.randn(2, 4)).mean(), params=dict(model.named_parameters()))
names = set(re.findall(r"\d+ \[label=\"?([A-Za-z0-9_. ]+)", dot.source))
# PyTorch has a node for the transposed weight of a linear layer, which is a part of the product here.
print(sorted(names - {"TBackward0"}))
