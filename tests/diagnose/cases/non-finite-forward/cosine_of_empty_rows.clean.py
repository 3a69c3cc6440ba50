"""The cosine by hand has an epsilon in the denominator."""

import torch
from torch import nn

torch.manual_seed(20)


class Matcher(nn.Module):
    def __init__(self, vocabulary: int = 30):
        super().__init__()
        self.embed = nn.Linear(vocabulary, 8, bias=False)

    @staticmethod
    def unit(rows: torch.Tensor) -> torch.Tensor:
        length = rows.pow(2).sum(1, keepdim=True)
        return rows / (length + 1e-8).sqrt()

    def forward(self, left, right):
        return (self.unit(self.embed(left)) * self.unit(self.embed(right))).sum(1)


def bags(count: int) -> torch.Tensor:
    return (torch.rand(count, 30) < 0.15).float()


model = Matcher()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(8):
    left = bags(20)
    right = (left + bags(20)).clamp(max=1)
    if step == 4:
        left[3] = 0.0  # an empty document
    loss = 1 - model(left, right).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
