"""each update puts a new tensor into .data, and the gradients are never cleared."""
import torch
from torch import nn

torch.manual_seed(105)


class PlainDescent:
    """Gradient descent without an Optimizer."""

    def __init__(self, parameters, rate):
        self.parameters = list(parameters)
        self.rate = rate

    def update(self):
        for p in self.parameters:
            p.data = p.data - self.rate * p.grad  # EXPECT: stale-gradient

    def clear(self):
        for p in self.parameters:
            p.grad = None


model = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
descent = PlainDescent(model.parameters(), rate=0.02)
x = torch.randn(64, 4)
y = x[:, :1] * x[:, 1:2]
history = []
for step in range(40):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # ALSO: stale-gradient
    descent.update()
    history.append(loss.item())
print(f"{history[0]:.4f} -> {history[-1]:.4f}")
