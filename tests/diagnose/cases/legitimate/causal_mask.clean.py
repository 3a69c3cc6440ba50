"""Must stay silent: causal attention with -inf above the diagonal, and key padding; every row keeps a key."""
import math
import torch
from torch import nn

torch.manual_seed(146)
V, D, L = 14, 24, 8


class CausalLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.position = nn.Embedding(V, D), nn.Embedding(L, D)
        self.qkv, self.mix = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.norm1, self.norm2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.ff = nn.Sequential(nn.Linear(D, 48), nn.GELU(), nn.Linear(48, D))
        self.register_buffer("mask", torch.full((L, L), float("-inf")).triu(1))

    def forward(self, tokens):
        x = self.token(tokens) + self.position(torch.arange(tokens.shape[1]))
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        scores = q @ k.transpose(1, 2) / math.sqrt(D) + self.mask[: q.shape[1], : q.shape[1]]
        x = x + self.mix(scores.softmax(-1) @ v)
        x = x + self.ff(self.norm2(x))
        return x @ self.token.weight.T


model = CausalLM()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(50):
    start = torch.randint(0, V, (16, 1))
    tokens = (start + 3 * torch.arange(L + 1)) % V
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, V), tokens[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
