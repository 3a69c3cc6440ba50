"""Legitimate twin: the last axis is dropped; several quantiles are compared with one target column on purpose."""
import torch
from torch import nn

torch.manual_seed(14)


class Forecaster(nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)
        self.quantiles = nn.Linear(hidden, 3)

    def forward(self, series):
        states, _ = self.lstm(series.unsqueeze(-1))
        return self.head(states).squeeze(-1), self.quantiles(states[:, -1])

    def loss(self, series):
        forecast, quantiles = self(series[:, :-1])
        error = series[:, -1].unsqueeze(1) - quantiles
        tau = torch.tensor([0.1, 0.5, 0.9])
        pinball = torch.maximum(tau * error, (tau - 1) * error).mean()
        return nn.functional.l1_loss(forecast, series[:, 1:]) + pinball


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
