"""a key-value cache is appended to in the checkpointed block: the second run sees twice the keys (pytorch#155171)."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(201)


class Block(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.keys = None

    def forward(self, x, use_cache):
        keys = self.k(x)
        if use_cache:
            keys = keys if self.keys is None else torch.cat([self.keys, keys], dim=1)  # ALSO: checkpoint-diverges
            self.keys = keys.detach()
        weights = F.softmax(self.q(x) @ keys.transpose(1, 2) / 3, dim=-1)
        return x + weights[..., : x.shape[1]] @ self.v(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.use_cache = True

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, self.use_cache, use_reentrant=False)  # EXPECT-ERROR: checkpoint-diverges
        return x


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x = torch.randn(4, 5, 8)
for step in range(4):
    loss = (model(x) - x.roll(1, 1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4))
