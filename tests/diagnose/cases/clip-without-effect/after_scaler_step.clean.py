"""unscale_, clip, scaler.step(): the order that PyTorch documents."""
import torch
from torch import nn
from torch.amp import GradScaler


class Trainer:
    def __init__(self, model: nn.Module, lr: float = 1e-2, max_norm: float = 0.5) -> None:
        self.model = model
        self.max_norm = max_norm
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, nesterov=True, momentum=0.9)
        self.scaler = GradScaler("cpu", enabled=False)

    def step(self, x: torch.Tensor, y: torch.Tensor) -> float:
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.smooth_l1_loss(self.model(x), y)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.item()


def main() -> None:
    torch.manual_seed(132)
    net = nn.Sequential(nn.Linear(7, 30), nn.LayerNorm(30), nn.ReLU(), nn.Linear(30, 2))
    trainer = Trainer(net)
    x = torch.randn(70, 7)
    y = torch.stack([x[:, 0] * 10, x[:, 1] ** 2], 1)
    history = [trainer.step(x[i::7], y[i::7]) for _ in range(3) for i in range(7)]
    print(f"{history[0]:.3f} -> {history[-1]:.3f}")


if __name__ == "__main__":
    main()
