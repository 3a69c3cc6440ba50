"""Adapters are put into the frozen network after the optimizer was built: they get gradients and never move."""

import torch
from torch import nn

torch.manual_seed(12)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, width)
        self.adapter = None

    def forward(self, x):
        h = torch.tanh(self.mix(x))
        return h if self.adapter is None else h + self.adapter(h)


class Backbone(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(2))
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def add_adapters(model):
    for block in model.blocks:
        block.mix.requires_grad_(False)
        block.adapter = nn.Linear(12, 12, bias=False)  # ALSO: parameter-not-optimized


model = Backbone()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.02)  # EXPECT: parameter-not-optimized
add_adapters(model)
x = torch.randn(90, 12)
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).long()
for step in range(40):
    rows = torch.randint(0, 90, (20,))
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    model.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
