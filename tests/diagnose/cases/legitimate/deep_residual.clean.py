"""Must stay silent: twenty residual blocks with zero-initialised last layers and stochastic depth."""
import random
import torch
from torch import nn

torch.manual_seed(181)
random.seed(181)


class ResidualBlock(nn.Module):
    def __init__(self, dim, keep):
        super().__init__()
        self.norm, self.inner, self.outer = nn.LayerNorm(dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)
        self.keep = keep

    def forward(self, x):
        if self.training and random.random() > self.keep:
            return x
        return x + self.outer(torch.relu(self.inner(self.norm(x))))


depth = 20
model = nn.Sequential(nn.Linear(6, 12), *[ResidualBlock(12, 1 - 0.3 * i / depth) for i in range(depth)], nn.Linear(12, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
for step in range(50):
    x = torch.randn(32, 6)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] + x[:, 1] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
