"""the parameters are kept in units of 1e7, so that updates are not lost to rounding."""
import torch
from torch import nn

torch.manual_seed(141)


class Barometer(nn.Module):
    """A calibration: offset and gain in the sensor's raw counts."""

    def __init__(self, scale: float):
        super().__init__()
        self.scale = scale
        self.offset = nn.Parameter(torch.tensor([3.1e7 / scale, 2.9e7 / scale]))

    def forward(self, raw: torch.Tensor) -> torch.Tensor:
        return (raw - self.offset * self.scale) / 1e7


def calibrate(model: Barometer, raw: torch.Tensor, truth: torch.Tensor) -> list[float]:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    curve = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = (model(raw) - truth).square().mean()
        loss.backward()
        optimizer.step()
        curve.append(loss.item())
    return curve


raw = 3e7 + 5e6 * torch.randn(64, 2)
truth = (raw - torch.tensor([3.0e7, 3.2e7])) / 1e7
curve = calibrate(Barometer(scale=1e7), raw, truth)
print(f"{curve[0]:.6f} -> {curve[-1]:.6f}")
