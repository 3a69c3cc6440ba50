"""A model is trained, put into eval mode and asked one request at a time; its parameters no longer require gradients."""
from dataclasses import dataclass

import torch
from torch import nn

torch.manual_seed(14)


@dataclass
class Request:
    features: list[float]


class Service:
    def __init__(self, network: nn.Module, mean: torch.Tensor) -> None:
        self.network = network.eval()
        self.mean = mean
        self.network.requires_grad_(False)

    def answer(self, request: Request) -> float:
        row = torch.tensor(request.features) - self.mean
        score = self.network(row.unsqueeze(0))
        return float(score)


def fit(network: nn.Module, x: torch.Tensor, y: torch.Tensor) -> None:
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(12):
        loss = nn.functional.mse_loss(network(x - x.mean(0)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    x = torch.rand(100, 6)
    y = x.sum(1, keepdim=True)
    network = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    fit(network, x, y)
    service = Service(network, x.mean(0))
    answers = [service.answer(Request(row.tolist())) for row in x[:40]]
    print("mean answer", round(sum(answers) / len(answers), 3))
