"""the closure given to step() does not clear, so SGD consumes what it consumed before."""
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
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def closure():
    loss = nn.functional.mse_loss(model(t), target)
    loss.backward()  # ALSO: stale-gradient
    return loss


for step in range(50):
    loss = optimizer.step(closure)  # EXPECT: stale-gradient
    if step % 10 == 0:
        print(step, loss.item())
