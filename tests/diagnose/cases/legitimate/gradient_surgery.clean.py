"""Must stay silent: two tasks whose gradients are projected (PCGrad) and then written to .grad."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(56)


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 20), nn.ReLU())
        self.price = nn.Linear(20, 1)
        self.kind = nn.Linear(20, 3)

    def forward(self, x):
        h = self.trunk(x)
        return self.price(h).squeeze(1), self.kind(h)


def project(gradients):
    result = [g.clone() for g in gradients]
    for i, g in enumerate(result):
        for j, other in enumerate(gradients):
            if i != j and torch.dot(g, other) < 0:
                g -= torch.dot(g, other) / other.dot(other) * other
    return sum(result)


def flat(gradients, parameters):
    return torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for g, p in zip(gradients, parameters)])


model = Shared()
parameters = list(model.parameters())
optimizer = torch.optim.SGD(parameters, lr=0.05, momentum=0.9)
x = torch.randn(60, 8)
price, kind = x[:, 0] - x[:, 1], x[:, :3].argmax(1)
for step in range(30):
    predicted, scores = model(x)
    losses = [F.mse_loss(predicted, price), F.cross_entropy(scores, kind)]
    each = [flat(torch.autograd.grad(l, parameters, retain_graph=True, allow_unused=True), parameters) for l in losses]
    combined, at = project(each), 0
    for p in parameters:
        p.grad = combined[at : at + p.numel()].view_as(p).clone()
        at += p.numel()
    optimizer.step()
print([round(l.item(), 3) for l in losses])
