"""Legitimate twin: batches differ in size and noise, so norms vary, but no batch stands out."""
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
fares[::7] += 1.5 * torch.randn(200, 1)
model = TaxiFare()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
sizes = torch.randint(6, 14, (140,)).tolist()
start = 0
for step in range(140):
    batch = torch.arange(start, start + sizes[step]) % 1400
    start += sizes[step]
    loss = nn.functional.mse_loss(model(trips[batch]), fares[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step, round(loss.item(), 3))
