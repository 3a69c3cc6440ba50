"""The features alone are computed under `no_grad`; what is trained is recorded."""

import contextlib

import torch
from torch import nn


@contextlib.contextmanager
def timed():
    yield


@torch.no_grad()
@timed()
def features(model, x):
    return model(x)


torch.manual_seed(0)
model = nn.Linear(3, 2)
head = nn.Linear(2, 1)
head(features(model, torch.randn(4, 3))).pow(2).mean().backward()
print(head.weight.grad is not None)
