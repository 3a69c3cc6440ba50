"""The scales of two heads are powers of two of parameters that begin at zero; NumPy computes both on one line."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(8)


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 20), nn.ReLU())
        self.left, self.right = nn.Linear(20, 1), nn.Linear(20, 1)
        self.left_scale = nn.Parameter(torch.zeros(()))
        self.right_scale = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        scales = np.exp2(float(self.left_scale)), np.exp2(float(self.right_scale))  # EXPECT: path-cut
        h = self.body(x)
        return scales[0] * self.left(h), scales[1] * self.right(h)


x = torch.randn(200, 6)
y, z = 4 * x[:, :1], torch.sin(x[:, 1:2])
model = Heads()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for epoch in range(12):
    for rows in torch.randperm(200).split(20):
        left, right = model(x[rows])
        loss = (left - y[rows]).abs().mean() + (right - z[rows]).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
