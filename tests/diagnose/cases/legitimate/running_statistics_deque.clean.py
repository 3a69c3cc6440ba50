"""Must stay silent: the last losses are kept detached in a deque, the last outputs as .item() and numpy values."""
from collections import deque
import torch
from torch import nn

torch.manual_seed(179)


class Meter:
    def __init__(self, window=10):
        self.values, self.total = deque(maxlen=window), 0.0

    def update(self, loss):
        self.values.append(loss.detach())
        self.total += loss.item()

    def mean(self):
        return torch.stack(tuple(self.values)).mean().item()


model = nn.Sequential(nn.Linear(5, 24), nn.Softplus(), nn.Linear(24, 1))
optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3)
meter, outputs = Meter(), []
for step in range(60):
    x = torch.randn(24, 5)
    y = x[:, :1].abs()
    prediction = model(x)
    loss = nn.functional.huber_loss(prediction, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    meter.update(loss)
    outputs.append(prediction.detach().numpy().mean())
    if step % 20 == 19:
        print(step, round(meter.mean(), 4), round(float(outputs[-1]), 4))
