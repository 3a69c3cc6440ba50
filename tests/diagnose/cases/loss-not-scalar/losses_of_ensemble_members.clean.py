"""the losses of the ensemble's members are summed: each member gets its own gradient."""
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Result:
    prediction: Tensor
    loss: Tensor


class Ensemble(nn.Module):
    def __init__(self, members: int = 4) -> None:
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(members, 3, 16) * 0.5)
        self.w2 = nn.Parameter(torch.randn(members, 16, 1) * 0.3)

    def forward(self, x: Tensor, y: Tensor) -> Result:
        prediction = torch.tanh(x @ self.w1) @ self.w2
        loss = (prediction - y).pow(2).mean(dim=(1, 2)).sum()
        return Result(prediction, loss)


torch.manual_seed(174)
model = Ensemble()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(40, 3)
y = x.prod(1, keepdim=True).expand(4, 40, 1)
for _ in range(15):
    optimizer.zero_grad()
    result = model(x, y)
    result.loss.backward()
    optimizer.step()
print("spread", round(result.prediction.std(0).mean().item(), 4))
