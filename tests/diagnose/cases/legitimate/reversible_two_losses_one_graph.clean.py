"""Must stay silent: reversible two losses one graph."""
import torch
from torch import nn
torch.manual_seed(53)
enc, a, b = nn.Linear(5, 8), nn.Linear(8, 1), nn.Linear(8, 1)
opt = torch.optim.SGD([*enc.parameters(), *a.parameters(), *b.parameters()], 0.01)
x = torch.randn(40, 5)
for _ in range(20):
    h = enc(x).tanh()
    losses = [(a(h) - x[:, :1]).pow(2).mean(), (b(h) - x[:, 1:2]).pow(2).mean()]
    opt.zero_grad()
    for i, l in enumerate(losses):
        l.backward(retain_graph=i < len(losses) - 1)
    opt.step()
print("pcgrad")
