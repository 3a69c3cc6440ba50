"""attention logits are unscaled and initialised far too large: softmax is one-hot, queries and keys get no gradient at all."""
import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(223)


class Pool(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width)
        self.head = nn.Linear(width, 2)
        for layer in (self.query, self.key):
            nn.init.normal_(layer.weight, std=4000.0)

    def forward(self, x):
        logits = self.query(x) @ self.key(x).mT
        mixed = F.softmax(logits, dim=-1) @ self.value(x)
        return self.head(mixed.mean(1))


def batches(count):
    for _ in range(count):
        x = torch.randn(16, 6, 16)
        yield x, (x[:, 0, 0] > 0).long()


model = Pool()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for x, y in batches(60):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()  # EXPECT: gradient-vanishes
    optimizer.step()
print("loss", round(loss.item(), 4))
