"""Losses weighted per sample are never reduced."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(27)
net = nn.Linear(5, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def weighted(logits, y, w):
    loss = F.cross_entropy(logits, y, reduction="none") * w  # EXPECT-ERROR: loss-not-scalar
    return loss


x, y = torch.randn(30, 5), torch.arange(30) % 3
w = torch.rand(30)
for _ in range(5):
    opt.zero_grad()
    weighted(net(x), y, w).backward()
    opt.step()
print("done")
