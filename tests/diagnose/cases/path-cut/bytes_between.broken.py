"""A compressor rounds its code to bytes: the cast cuts the encoder off, only the decoder learns."""

import torch
from torch import nn

torch.manual_seed(7)


class Compressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 20), nn.SiLU(), nn.Linear(20, 4), nn.Sigmoid())
        self.decoder = nn.Sequential(nn.Linear(4, 20), nn.SiLU(), nn.Linear(20, 12))

    def to_bytes(self, x):
        return (self.encoder(x) * 255).to(torch.uint8)  # EXPECT: path-cut

    def forward(self, x):
        code = self.to_bytes(x).float() / 255
        return self.decoder(code)


class History:
    def __init__(self):
        self.values = []

    def on_step_end(self, loss):
        self.values.append(loss.item())


def fit(model, data, callbacks, steps=30):
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    for step in range(steps):
        batch = data[torch.randperm(len(data))[:16]]
        loss = nn.functional.mse_loss(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for callback in callbacks:
            callback.on_step_end(loss)


model, history = Compressor(), History()
fit(model, torch.randn(128, 4) @ torch.randn(4, 12), [history])
with torch.no_grad():
    print(history.values[-1], model.to_bytes(torch.randn(2, 12)).tolist())
