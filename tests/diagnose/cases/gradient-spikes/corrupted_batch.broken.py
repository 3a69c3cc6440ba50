"""One batch late in training holds a value in the wrong unit, and the gradient jumps a thousandfold."""
import torch
from torch import nn

torch.manual_seed(51)


class TaxiFare(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, trip):
        return self.net(trip)


trips = torch.randn(1400, 4)
fares = trips[:, :1] * 2 + trips[:, 1:2].abs() + 0.2 * torch.randn(1400, 1)
fares[1305] = 4200.0
model = TaxiFare()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
start = 0
for step in range(140):
    batch = slice(start, start + 10)
    start += 10
    loss = nn.functional.mse_loss(model(trips[batch]), fares[batch])
    optimizer.zero_grad()
    loss.backward()  # EXPECT: gradient-spikes
    optimizer.step()
    if step % 20 == 19:
        print(step, round(loss.item(), 3))
