"""exp's result is needed by its own backward, and is divided in place (pytorch#96265)."""
import math

import torch
from torch import nn

torch.manual_seed(151)


class Attention(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.scale = 1 / math.sqrt(width)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(1, 2) * self.scale
        scores = scores - scores.max(dim=-1, keepdim=True).values.detach()
        weights = torch.exp(scores)  # ALSO: saved-value-overwritten
        weights /= weights.sum(-1, keepdim=True).detach()  # EXPECT-ERROR: saved-value-overwritten
        return weights @ self.value(x)


def main():
    model = Attention()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    x = torch.randn(8, 6, 12)
    for _ in range(10):
        loss = (model(x) - x.flip(1)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(round(loss.item(), 4))


main()
