"""blocks are appended to a list in __init__ of a nested module, so the outer model's parameters() misses them."""
import torch
from torch import nn

torch.manual_seed(29)


class Tower(nn.Module):
    def __init__(self, channels, depth):
        super().__init__()
        self.blocks = []  # EXPECT: parameter-unregistered
        for i in range(depth):
            block = nn.Sequential(nn.Conv1d(channels, channels, 3, padding=1), nn.Tanh())
            self.blocks.append(block)

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv1d(1, 6, 3, padding=1)
        self.tower = Tower(6, 3)
        self.head = nn.Linear(6, 1)

    def forward(self, x):
        return self.head(self.tower(self.stem(x)).mean(2))


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)  # MAY: parameter-not-optimized
x = torch.randn(90, 1, 12)
y = x.abs().mean(2)
for epoch in range(6):
    for rows in torch.randperm(90).split(15):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("loss", loss.item(), "tensors", len(list(model.parameters())))
