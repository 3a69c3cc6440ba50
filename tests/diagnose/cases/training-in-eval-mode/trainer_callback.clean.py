"""A callback measures accuracy with train(False) and restores the mode in a finally block."""
import torch
from torch import nn


class AccuracyCallback:
    def __init__(self, x: torch.Tensor, y: torch.Tensor, every: int) -> None:
        self.x, self.y, self.every = x, y, every
        self.values: list[float] = []

    def after_step(self, trainer: "Trainer") -> None:
        if trainer.global_step % self.every:
            return
        before = trainer.model.training
        trainer.model.train(False)
        try:
            with torch.inference_mode():
                self.values.append((trainer.model(self.x).argmax(-1) == self.y).float().mean().item())
        finally:
            trainer.model.train(before)


class Trainer:
    def __init__(self, model: nn.Module, callbacks: list[AccuracyCallback]) -> None:
        self.model, self.callbacks = model, callbacks
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.99)
        self.global_step = 0

    def fit(self, x: torch.Tensor, y: torch.Tensor, steps: int) -> None:
        self.model.train()
        for _ in range(steps):
            rows = torch.randint(0, len(x), (24,))
            self.optimizer.zero_grad()
            nn.functional.cross_entropy(self.model(x[rows]), y[rows], label_smoothing=0.05).backward()
            self.optimizer.step()
            self.scheduler.step()
            self.global_step += 1
            for callback in self.callbacks:
                callback.after_step(self)


torch.manual_seed(40)
images = torch.randn(200, 1, 6, 6)
labels = (images[:, 0, :3].sum((1, 2)) > 0).long()
network = nn.Sequential(
    nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout2d(0.2), nn.Flatten(), nn.Linear(128, 2)
)
callback = AccuracyCallback(images[160:], labels[160:], every=20)
Trainer(network, [callback]).fit(images[:160], labels[:160], steps=60)
print("accuracy", [round(v, 2) for v in callback.values])
