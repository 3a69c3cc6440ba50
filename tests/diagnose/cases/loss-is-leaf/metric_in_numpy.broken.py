"""the loss is a correlation computed in NumPy and wrapped again with requires_grad=True."""
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
        prediction, truth = prediction.detach().numpy(), truth.numpy()  # ALSO: loss-is-leaf
        score = correlation(prediction, truth)
        return torch.tensor(1 - score, requires_grad=True)  # EXPECT: loss-is-leaf

    def step(self, x, y):
        loss = self.criterion(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()  # MAY: step-without-gradient
        return float(loss.detach())


x = torch.randn(100, 6)
y = torch.sin(x[:, 0]) + x[:, 1]
trainer = Trainer()
for it in range(40):
    value = trainer.step(x, y)
with torch.no_grad():
    final = trainer.model(x).numpy()
print("loss", value, "numpy correlation", np.corrcoef(final, y.numpy())[0, 1])
