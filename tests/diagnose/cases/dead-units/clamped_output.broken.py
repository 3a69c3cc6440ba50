"""The output is clamped at zero, and the targets are logarithms of small numbers: soon it is zero for every input."""

import torch
from torch import nn

torch.manual_seed(31)


class Demand(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(7, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x):
        raw = self.net(x)
        return torch.clamp(raw, min=0)  # EXPECT: dead-units


def fit(model, x, y, epochs=15):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)
    history = []
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for rows in order.split(16):
            loss = nn.functional.mse_loss(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history.append(loss.item())
        scheduler.step()
    return history


x = torch.randn(96, 7)
y = torch.log(0.05 * torch.sigmoid(x.sum(1, keepdim=True)))
print(fit(Demand(), x, y)[::30])
