"""`no_grad` as the outer of two decorators: the line is the decorator's, not the one inside of the other's wrapper."""

import contextlib

import torch
from torch import nn


@contextlib.contextmanager
def timed():
    yield


@torch.no_grad()  # EXPECT-ERROR: recording-off
@timed()
def features(model, x):
    return model(x)


torch.manual_seed(0)
model = nn.Linear(3, 2)
features(model, torch.randn(4, 3)).pow(2).mean().backward()
