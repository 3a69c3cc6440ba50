"""Must stay silent: activation checkpointing of blocks with dropout; the random state is replayed."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

torch.manual_seed(164)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Dropout(0.2), nn.Linear(2 * dim, dim))

    def forward(self, x):
        return x + self.ff(self.norm(x))


class Net(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.inp = nn.Linear(6, dim)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(3))
        self.tail = nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, dim), nn.Tanh())
        self.head = nn.Linear(dim, 2)

    def forward(self, x):
        x = self.inp(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        x = checkpoint_sequential(self.tail, 2, x, use_reentrant=False)
        return self.head(x)


model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(40):
    x = torch.randn(24, 6)
    loss = nn.functional.cross_entropy(model(x), (x[:, :3].sum(1) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
