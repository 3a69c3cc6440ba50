"""A sample without any valid key gets a row of -inf scores, and softmax of that row is nan."""
import math
import torch
from torch import nn

torch.manual_seed(24)


class SelfAttention(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, valid):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(~valid.unsqueeze(1), float("-inf"))
        weights = torch.softmax(scores, dim=-1)  # EXPECT: non-finite-forward
        return self.out(weights @ v)


class Regressor(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.embed = nn.Linear(4, dim)
        self.norm = nn.LayerNorm(dim)
        self.attention = SelfAttention(dim)
        self.head = nn.Linear(dim, 1)

    def forward(self, x, valid):
        h = self.embed(x)
        h = h + self.attention(self.norm(h), valid)
        return self.head(h.mean(1)).squeeze(-1)


model = Regressor()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(40):
    x = torch.randn(8, 6, 4)
    length = torch.randint(1, 7, (8,))
    if step == 12:
        length[5] = 0
    valid = torch.arange(6) < length[:, None]
    y = (x[..., 0] * valid).sum(1)
    loss = nn.functional.mse_loss(model(x, valid), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, loss.item())
