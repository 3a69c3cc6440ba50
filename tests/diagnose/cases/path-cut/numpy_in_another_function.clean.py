"""A helper standardises scores with NumPy and hands a new tensor back."""
import numpy as np
import torch
import torch.nn as nn


def standardise(scores):
    return (scores - scores.mean()) / (scores.std() + 1e-6)


torch.manual_seed(16)
scorer, mixer = nn.Linear(5, 1), nn.Linear(2, 1)
opt = torch.optim.Adam([*scorer.parameters(), *mixer.parameters()], 5e-3)
for step in range(40):
    x = torch.randn(32, 5)
    z = standardise(scorer(x))
    out = mixer(torch.cat([z, x[:, :1]], 1))
    loss = (out[:, 0] - x[:, 1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("done")
