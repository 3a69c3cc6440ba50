"""A Metrics dataclass adds weighted loss tensors; every batch of the run hangs on one sum (ML2021#2)."""
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)


@dataclass
class Metrics:
    loss_sum: torch.Tensor = field(default_factory=lambda: torch.zeros(()))
    seen: int = 0

    def update(self, loss: torch.Tensor, n: int) -> None:
        self.loss_sum = self.loss_sum + loss * n  # EXPECT: graphs-accumulate
        self.seen += n

    @property
    def mean(self) -> float:
        return float(self.loss_sum) / max(self.seen, 1)


class Trainer:
    def __init__(self, model: nn.Module, lr: float) -> None:
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.metrics = Metrics()

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        x, y = batch
        return nn.functional.cross_entropy(self.model(x), y)  # ALSO: graphs-accumulate

    def fit(self, loader: DataLoader, epochs: int) -> None:
        for _ in range(epochs):
            for batch in loader:
                loss = self.training_step(batch)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self.optimizer.step()
                self.metrics.update(loss, len(batch[0]))


if __name__ == "__main__":
    x = torch.randn(320, 12)
    y = (x[:, 0] > x[:, 1]).long()
    trainer = Trainer(nn.Sequential(nn.Linear(12, 24), nn.GELU(), nn.Linear(24, 2)), lr=3e-3)
    trainer.fit(DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True), epochs=3)
    print("mean loss", trainer.metrics.mean)
