"""Gradients of the micro batches are cleared by the generator that yields them."""
import torch
from torch import nn

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.SiLU(), nn.Linear(20, 1))
opt = torch.optim.AdamW(net.parameters(), 5e-3)
X = torch.randn(128, 6)
Y = X.pow(2).sum(1, keepdim=True)


def micro_batches(k):
    idx = torch.randperm(128)
    opt.zero_grad()
    for part in idx.chunk(k):
        yield X[part], Y[part]


for epoch in range(15):
    for xb, yb in micro_batches(4):
        loss = (net(xb) - yb).abs().mean() / 4
        loss.backward()
    opt.step()
print("done", loss.ndim)
