"""Legitimate twin: dropout inside, with the random state preserved (the default)."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(71)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)

    def forward(self, x):
        h = torch.relu(self.up(x))
        h = nn.functional.dropout(h, 0.3, training=self.training)
        return x + self.down(h)


class Net(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.blocks = nn.ModuleList([Block(dim) for _ in range(2)])
        self.head = nn.Linear(dim, 3)

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(x)


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
x = torch.randn(120, 16)
y = x[:, :3].argmax(1)
for step in range(40):
    rows = torch.randint(0, 120, (24,))
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
