"""Must stay silent: sharpness-aware minimisation, two backward passes and two parameter moves per batch."""
import torch
from torch import nn

torch.manual_seed(107)


class SAM:
    def __init__(self, parameters, base, rho=0.05):
        self.parameters = list(parameters)
        self.base, self.rho = base, rho

    @torch.no_grad()
    def climb(self):
        norm = torch.stack([p.grad.norm() for p in self.parameters]).norm() + 1e-12
        self.moves = [p.grad * (self.rho / norm) for p in self.parameters]
        for p, move in zip(self.parameters, self.moves):
            p.add_(move)
            p.grad = None

    @torch.no_grad()
    def descend(self):
        for p, move in zip(self.parameters, self.moves):
            p.sub_(move)
        self.base.step()
        self.base.zero_grad()


x = torch.randn(240, 8)
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
sam = SAM(model.parameters(), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
for step in range(50):
    rows = torch.randint(0, 240, (40,))
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    loss.backward()
    sam.climb()
    nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
    sam.descend()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
