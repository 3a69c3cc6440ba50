"""Must stay silent: magnitude pruning: masks zero the weights and their gradients, whole units may go."""

import torch
from torch import nn

torch.manual_seed(64)


class Pruner:
    def __init__(self, model):
        self.layers = [m for m in model.modules() if isinstance(m, nn.Linear)]
        self.masks = [torch.ones_like(layer.weight) for layer in self.layers]

    @torch.no_grad()
    def prune(self, share):
        for layer, mask in zip(self.layers, self.masks):
            bound = layer.weight.abs().flatten().kthvalue(int(share * layer.weight.numel()) + 1).values
            mask.copy_((layer.weight.abs() >= bound).float())
        self.apply()

    @torch.no_grad()
    def apply(self):
        for layer, mask in zip(self.layers, self.masks):
            layer.weight.mul_(mask)
            if layer.weight.grad is not None:
                layer.weight.grad.mul_(mask)


model = nn.Sequential(nn.Linear(10, 30), nn.ReLU(), nn.Linear(30, 30), nn.ReLU(), nn.Linear(30, 2))
pruner = Pruner(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(200, 10)
y = (x[:, :3].sum(1) > 0).long()
for epoch in range(12):
    for rows in torch.randperm(200).split(25):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        pruner.apply()
        optimizer.step()
        pruner.apply()
    if epoch in (3, 6, 9):
        pruner.prune(0.3 * epoch / 3 - 0.05)
print(loss.item(), [int(m.sum()) for m in pruner.masks])
