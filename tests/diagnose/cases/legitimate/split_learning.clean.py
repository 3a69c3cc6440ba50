"""Must stay silent: clients and a server, the cut tensors' gradients sent back."""

import torch
from torch import nn

torch.manual_seed(23)
clients = [nn.Linear(3, 4) for _ in range(2)]
server = nn.Linear(8, 1)
os = [torch.optim.Adam(m.parameters(), 1e-2) for m in (*clients, server)]
for i in range(40):
    x = torch.randn(32, 6)
    parts = [c(p) for c, p in zip(clients, x.split(3, 1))]
    sent = [p.detach().clone().requires_grad_(True) for p in parts]
    for o in os:
        o.zero_grad()
    l = (server(torch.cat(sent, 1)) - x.sum(1, keepdim=True)).pow(2).mean()
    l.backward()
    for p, s in zip(parts, sent):
        p.backward(s.grad)
    for o in os:
        o.step()
print(f"{l.item():.3f}")
