"""Rates with no exposure are set to zero after the division; the gradient of the division there is 0 * inf."""

import torch
from torch import nn

torch.manual_seed(26)


class Rates(nn.Module):
    def __init__(self):
        super().__init__()
        self.claims = nn.Linear(5, 3)

    def forward(self, features: torch.Tensor, exposure: torch.Tensor) -> torch.Tensor:
        expected = self.claims(features).exp()
        rate = expected / exposure  # EXPECT: non-finite-backward
        rate[exposure == 0] = 0.0
        return rate


class EarlyStopping:
    def __init__(self, patience: int):
        self.best, self.left, self.patience = float("inf"), patience, patience

    def __call__(self, value: float) -> bool:
        self.left = self.patience if value < self.best else self.left - 1
        self.best = min(self.best, value)
        return self.left <= 0


features = torch.randn(32, 5)
exposure = torch.randint(0, 4, (32, 3)).float()
observed = torch.rand(32, 3) * (exposure > 0)
model, stop = Rates(), EarlyStopping(patience=3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(12):
    loss = nn.functional.mse_loss(model(features, exposure), observed)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if stop(loss.item()):
        break
print("stopped in epoch", epoch, loss.item())
