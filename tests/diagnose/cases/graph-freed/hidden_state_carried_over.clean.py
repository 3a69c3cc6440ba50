"""Legitimate twin: the hidden state is carried over detached (truncated backpropagation)."""
import torch
from torch import nn


class Predictor(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, hidden=None):
        features, hidden = self.gru(x, hidden)
        return self.out(features), hidden


def train(model, series, chunk=8, epochs=3):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(epochs):
        hidden, total = None, 0.0
        for start in range(0, series.shape[1] - chunk - 1, chunk):
            x = series[:, start:start + chunk]
            y = series[:, start + 1:start + chunk + 1]
            if hidden is not None:
                hidden = hidden.detach()
            prediction, hidden = model(x, hidden)
            loss = nn.functional.mse_loss(prediction, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print("epoch", epoch, "loss", round(total, 4))


torch.manual_seed(25)
phase = torch.rand(6, 1) * 6
series = torch.sin(torch.arange(90) * 0.3 + phase).unsqueeze(2)
train(Predictor(), series)
