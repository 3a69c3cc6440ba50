"""Legitimate twin: the correlation is differentiated in torch; NumPy only computes the metric that is printed."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(27)


def correlation(a, b):
    a, b = a - a.mean(), b - b.mean()
    return (a * b).sum() / ((a**2).sum() ** 0.5 * (b**2).sum() ** 0.5 + 1e-8)


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(6, 20), nn.SELU(), nn.Linear(20, 1), nn.Flatten(0))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.8)

    def criterion(self, prediction, truth):
        return 1 - correlation(prediction, truth)

    def step(self, x, y):
        loss = self.criterion(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())


x = torch.randn(100, 6)
y = torch.sin(x[:, 0]) + x[:, 1]
trainer = Trainer()
for it in range(40):
    value = trainer.step(x, y)
with torch.no_grad():
    final = trainer.model(x).numpy()
print("loss", value, "numpy correlation", np.corrcoef(final, y.numpy())[0, 1])
