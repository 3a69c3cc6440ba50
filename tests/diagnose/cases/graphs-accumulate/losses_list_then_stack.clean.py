"""Legitimate twin: the list holds the losses of one accumulation window, stacked and consumed by one backward."""
import torch
from torch import nn

torch.manual_seed(25)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(6, 32)
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.inp(x)))


x = torch.randn(300, 6)
y = x[:, :1].sin() + 0.5 * x[:, 1:2]
model = Regressor()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
losses = []
for step in range(60):
    idx = torch.randint(0, 300, (20,))
    losses.append(nn.functional.mse_loss(model(x[idx]), y[idx]))
    if len(losses) == 6:
        optimizer.zero_grad()
        window = torch.stack(losses).mean()
        window.backward()
        optimizer.step()
        losses.clear()
        print("step", step, "window loss", window.item())
