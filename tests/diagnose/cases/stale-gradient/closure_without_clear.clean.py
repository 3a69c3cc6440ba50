"""Legitimate twin: LBFGS evaluates its closure several times per step, and the closure clears each time."""
import torch
from torch import nn

torch.manual_seed(8)


class Curve(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(1, 10)
        self.outer = nn.Linear(10, 1)

    def forward(self, t):
        return self.outer(torch.tanh(self.inner(t)))


t = torch.linspace(0, 3, 64).unsqueeze(1)
target = torch.sin(2 * t)
model = Curve()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5)


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(t), target)
    loss.backward()
    return loss


for step in range(12):
    loss = optimizer.step(closure)
    if step % 4 == 0:
        print(step, loss.item())
