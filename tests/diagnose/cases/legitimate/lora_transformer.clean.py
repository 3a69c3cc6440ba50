"""Must stay silent: low-rank adapters on a frozen transformer layer; B starts at zero, so A has no gradient at step one."""
import torch
from torch import nn

torch.manual_seed(140)


class LoRA(nn.Module):
    def __init__(self, linear, rank=2, alpha=4):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.down = nn.Linear(linear.in_features, rank, bias=False)
        self.up = nn.Linear(rank, linear.out_features, bias=False)
        nn.init.zeros_(self.up.weight)
        self.scale = alpha / rank

    def forward(self, x):
        return self.linear(x) + self.scale * self.up(self.down(x))


class Block(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.query, self.key, self.value = LoRA(nn.Linear(dim, dim)), nn.Linear(dim, dim), LoRA(nn.Linear(dim, dim))
        self.norm = nn.LayerNorm(dim)
        self.key.requires_grad_(False)
        self.norm.requires_grad_(False)

    def forward(self, x):
        h = self.norm(x)
        scores = self.query(h) @ self.key(h).transpose(1, 2) / 4.0
        return x + scores.softmax(-1) @ self.value(h)


embed = nn.Embedding(20, 16).requires_grad_(False)
block, head = Block(), nn.Linear(16, 2)
trainable = [p for module in (block, head) for p in module.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trainable, lr=5e-3)
for step in range(50):
    tokens = torch.randint(0, 20, (16, 6))
    label = (tokens[:, 0] < 10).long()
    loss = nn.functional.cross_entropy(head(block(embed(tokens)).mean(1)), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4), "trainable", sum(p.numel() for p in trainable))
