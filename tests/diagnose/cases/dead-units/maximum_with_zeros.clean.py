"""A rectifier written with torch.maximum, behind a bias that starts at zero."""

import torch
from torch import nn

torch.manual_seed(71)


def rectify(x: torch.Tensor) -> torch.Tensor:
    return torch.maximum(torch.zeros_like(x), x)


class Classifier(nn.Module):
    def __init__(self, start: float):
        super().__init__()
        self.first = nn.Linear(5, 16)
        self.second = nn.Linear(16, 2)
        nn.init.constant_(self.first.bias, start)

    def forward(self, x):
        return self.second(rectify(self.first(x)))


model = Classifier(start=0.0)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for step in range(120):
    x = torch.randn(20, 5)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
