"""Quantile regression: a column preds[:, i] of shape (N,) minus targets (N, 1) is an N by N matrix."""
import torch
from torch import nn

QUANTILES = (0.1, 0.5, 0.9)


class QuantileLoss(nn.Module):
    def __init__(self, quantiles: tuple[float, ...]) -> None:
        super().__init__()
        self.quantiles = quantiles

    def forward(self, preds: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        losses = []
        for i, q in enumerate(self.quantiles):
            errors = target - preds[:, i]  # EXPECT: loss-broadcast
            losses.append(torch.maximum((q - 1) * errors, q * errors))
        return torch.stack(losses).mean()


def train(x: torch.Tensor, y: torch.Tensor, epochs: int) -> nn.Module:
    model = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, len(QUANTILES)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = QuantileLoss(QUANTILES)
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(32):
            loss = criterion(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model


if __name__ == "__main__":
    torch.manual_seed(81)
    x = torch.rand(192, 1) * 4
    y = torch.sin(x) + (0.1 + 0.2 * x) * torch.randn(192, 1)
    model = train(x, y, epochs=6)
    with torch.no_grad():
        covered = (y.flatten() < model(x)[:, 2]).float().mean()
    print("below the upper quantile", round(covered.item(), 3))
