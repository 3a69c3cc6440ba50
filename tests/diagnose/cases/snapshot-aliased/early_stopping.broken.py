"""The best weights are kept by reference."""
from dataclasses import dataclass
from typing import Any
import torch
from torch import nn

torch.manual_seed(65)


@dataclass
class Best:
    loss: float = float("inf")
    weights: Any = None

    def offer(self, loss, model):
        if loss < self.loss:
            self.loss = loss
            self.weights = dict(model.state_dict())  # EXPECT: snapshot-aliased


net, best = nn.Linear(4, 1), Best()
opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(30, 4)
for e in range(20):
    x = torch.randn(30, 4) * (1 + e % 3)
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    best.offer(loss.item(), net)
net.load_state_dict(best.weights)
print("restored")
