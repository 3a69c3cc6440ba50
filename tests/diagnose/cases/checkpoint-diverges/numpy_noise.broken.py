"""Noise from NumPy's generator inside a checkpointed layer is not replayed: recomputation sees other noise."""
import numpy as np
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(73)
rng = np.random.default_rng(73)


class NoisyEncoder(nn.Module):
    def __init__(self, features=10, hidden=20):
        super().__init__()
        self.inner = nn.Linear(features, hidden)
        self.outer = nn.Linear(hidden, 4)

    def corrupt(self, h):
        noise = torch.from_numpy(rng.normal(0.0, 0.5, h.shape)).float()
        return h * (1 + noise)  # ALSO: checkpoint-diverges

    def forward(self, x):
        return self.outer(torch.tanh(self.corrupt(self.inner(x))))


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = NoisyEncoder()
        self.decoder = nn.Linear(4, 10)

    def forward(self, x):
        code = checkpoint(self.encoder, x, use_reentrant=False)  # EXPECT: checkpoint-diverges
        return self.decoder(code)


model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
signals = torch.randn(100, 3) @ torch.randn(3, 10)
for epoch in range(8):
    for batch in signals[torch.randperm(100)].split(20):
        loss = nn.functional.mse_loss(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, round(loss.item(), 4))
