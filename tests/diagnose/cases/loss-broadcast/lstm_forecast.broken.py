"""An LSTM forecaster of one series returns (1, T, 1) and the target is (1, T): l1_loss compares all pairs of times."""
import torch
from torch import nn

torch.manual_seed(14)


class Forecaster(nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, series):
        states, _ = self.lstm(series.unsqueeze(-1))
        return self.head(states)

    def loss(self, series):
        forecast = self(series[:, :-1])
        return nn.functional.l1_loss(forecast, series[:, 1:])  # EXPECT: loss-broadcast


def series_windows(n, length=31):
    for _ in range(n):
        phase = torch.rand(1, 1) * 6
        yield torch.sin(torch.linspace(0, 8, length) + phase)


model = Forecaster()
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
for i, series in enumerate(series_windows(50)):
    loss = model.loss(series)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if i % 10 == 9:
        print(i, round(loss.item(), 4))
