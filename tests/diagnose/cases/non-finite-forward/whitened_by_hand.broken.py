"""A helper scales each channel by the root of its power above a noise floor, and divides; from step 60 on one channel is below the floor."""

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(44)


def whitened(signal, floor=0.1):
    power = signal.square().mean(dim=(0, 2), keepdim=True) - floor
    scale = power.sqrt()  # EXPECT: non-finite-forward
    return signal / (scale + 0.01)


def recording(step):
    signal = torch.randn(12, 3, 20)
    label = (signal[:, 0].mean(1) > signal[:, 1].mean(1)).long()
    if step >= 60:
        signal[:, 2] *= 0.05
    return signal, label


model = nn.Sequential(nn.Flatten(), nn.Linear(60, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(90):
    signal, label = recording(step)
    loss = F.cross_entropy(model(whitened(signal)), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
