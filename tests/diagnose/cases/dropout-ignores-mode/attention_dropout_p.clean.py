"""Legitimate twin: dropout_p=self.p if self.training else 0.0."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(15)


class CausalSelfAttention(nn.Module):
    def __init__(self, dim=16, heads=2, p=0.2):
        super().__init__()
        self.heads, self.p = heads, p
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in self.qkv(x).chunk(3, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p if self.training else 0.0, is_causal=True)
        return x + self.proj(y.transpose(1, 2).reshape(b, t, d))


class GPT(nn.Module):
    def __init__(self, vocab=9, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.attention = CausalSelfAttention(dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens):
        return self.head(self.attention(self.embed(tokens)))


@torch.no_grad()
def estimate_loss(model, tokens):
    model.eval()
    loss = F.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:]).item()
    model.train()
    return loss


tokens = torch.arange(450).remainder(9).view(50, 9)
model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(30):
    batch = tokens[torch.randint(0, 40, (8,))]
    loss = F.cross_entropy(model(batch[:, :-1]).transpose(1, 2), batch[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print("step", step, "val", round(estimate_loss(model, tokens[40:]), 4))
