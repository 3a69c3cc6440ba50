"""raw counts in the thousands drive the hard sigmoid gate into its flat parts, where its gradient is exactly zero."""
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Data:
    counts: Tensor
    yields: Tensor


class GatedRegressor(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.gate = nn.Linear(features, 16)
        self.value = nn.Linear(features, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x: Tensor) -> Tensor:
        gate = nn.functional.hardsigmoid(self.gate(x))
        return self.out(gate * torch.tanh(self.value(x / 1e4)))


def load() -> Data:
    counts = torch.randint(30_000, 90_000, (90, 6)).float()
    yields = (counts[:, :1] - counts[:, 1:2]) / 3e4
    return Data(counts, yields)


def main() -> None:
    torch.manual_seed(222)
    data = load()
    model = GatedRegressor(6)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for _ in range(60):
        optimizer.zero_grad()
        loss = nn.functional.huber_loss(model(data.counts), data.yields)
        loss.backward()  # EXPECT: gradient-vanishes
        optimizer.step()
    print("loss", round(loss.item(), 4))


if __name__ == "__main__":
    main()
