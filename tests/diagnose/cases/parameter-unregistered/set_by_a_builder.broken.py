"""A builder hangs a list of layers on a module from outside: they are used in forward and never registered."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    inputs: int = 5
    width: int = 16
    depth: int = 2
    lr: float = 0.05


class Regressor(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.stem = nn.Linear(config.inputs, config.width)
        self.head = nn.Linear(config.width, 1)

    def forward(self, x):
        h = self.stem(x).relu()
        for layer in self.hidden:
            h = h + layer(h).relu()
        return self.head(h).squeeze(-1)


def build(config: Config) -> Regressor:
    net = Regressor(config)
    layers = [nn.Linear(config.width, config.width) for _ in range(config.depth)]
    net.hidden = layers  # EXPECT: parameter-unregistered
    return net


def train(config: Config) -> None:
    torch.manual_seed(16)
    net = build(config)
    optimizer = torch.optim.SGD(net.parameters(), lr=config.lr)
    x = torch.randn(70, config.inputs)
    y = x[:, 0] * x[:, 1]
    try:
        for epoch in range(20):
            optimizer.zero_grad()
            loss = (net(x) - y).square().mean()
            loss.backward()
            optimizer.step()
    finally:
        print("stopped at", epoch, "with", loss.item())


if __name__ == "__main__":
    train(Config())
