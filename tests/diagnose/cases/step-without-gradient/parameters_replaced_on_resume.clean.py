"""resuming copies values into the parameters that the optimizer owns."""
import torch
from torch import nn

torch.manual_seed(123)


class Spline(nn.Module):
    def __init__(self, knots=8):
        super().__init__()
        self.centres = nn.Parameter(torch.linspace(-1, 1, knots))
        self.heights = nn.Parameter(torch.zeros(knots))

    def forward(self, x):
        return (torch.exp(-4 * (x[:, None] - self.centres) ** 2) * self.heights).sum(1)


def resume(model: Spline, saved: dict[str, torch.Tensor]) -> None:
    for name, value in saved.items():
        with torch.no_grad():
            getattr(model, name).copy_(value)


def fit(model, optimizer, x, y, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (model(x) - y).abs().mean()
        loss.backward()
        optimizer.step()
    return loss.item()


saved = {"centres": torch.linspace(-1.2, 1.2, 8), "heights": 0.1 * torch.randn(8)}
model = Spline()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
resume(model, saved)
x = torch.linspace(-1, 1, 64)
print("loss", round(fit(model, optimizer, x, x.abs(), 30), 4))
