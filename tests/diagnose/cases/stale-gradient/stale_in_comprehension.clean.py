"""Losses of several heads in a comprehension; nobody clears."""
import torch
from torch import nn

torch.manual_seed(2)
heads = nn.ModuleList(nn.Linear(5, 1) for _ in range(3))
opts = [torch.optim.SGD(h.parameters(), 0.01) for h in heads]


def train(h, o):
    x = torch.randn(8, 5)
    o.zero_grad()
    loss = (h(x) - x.sum(1, keepdim=True)).square().mean()
    loss.backward()
    o.step()
    return loss.item()


for epoch in range(12):
    losses = [train(h, o) for h, o in zip(heads, opts)]
print([round(v, 2) for v in losses])
