"""a helper resets .grad of every parameter to None although the penalty has just deposited there (accelerate#1299)."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(114)


def reset(module: nn.Module) -> None:
    for p in module.parameters():
        p.grad = None  # EXPECT: gradient-discarded


def smoothness(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return (model(x) - model(x + 0.05 * torch.randn_like(x))).pow(2).mean()


def train(model: nn.Module, x: torch.Tensor, y: torch.Tensor, steps: int = 25) -> list[float]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    history = []
    for _ in range(steps):
        penalty = 5.0 * smoothness(model, x)
        penalty.backward()  # ALSO: gradient-discarded
        reset(model)
        loss = F.binary_cross_entropy_with_logits(model(x), y)
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return history


x = torch.randn(60, 6)
y = (x[:, :1] * x[:, 1:2] > 0).float()
history = train(nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1)), x, y)
print(f"{history[0]:.3f} -> {history[-1]:.3f}")
