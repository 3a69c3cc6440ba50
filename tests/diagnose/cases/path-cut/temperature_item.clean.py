"""Legitimate twin: the temperature stays a tensor; its value is printed with item()."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(82)


class Retrieval(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.query = nn.Linear(6, dim)
        self.key = nn.Linear(9, dim)
        self.log_scale = nn.Parameter(torch.tensor(0.7))

    def forward(self, q, k):
        q, k = F.normalize(self.query(q), dim=1), F.normalize(self.key(k), dim=1)
        scale = self.log_scale.exp()
        return scale * q @ k.t()


shared = torch.randn(128, 5)
queries, keys = shared @ torch.randn(5, 6), shared @ torch.randn(5, 9)
model = Retrieval()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(50):
    rows = torch.randperm(128)[:16]
    loss = F.cross_entropy(model(queries[rows], keys[rows]), torch.arange(16))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, "loss", round(loss.item(), 4), "scale", round(model.log_scale.exp().item(), 4))
