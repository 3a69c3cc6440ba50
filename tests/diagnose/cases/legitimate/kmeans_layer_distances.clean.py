"""Must stay silent: kmeans layer distances."""
import torch
from torch import nn
torch.manual_seed(39)
enc = nn.Linear(8, 2)
centres = nn.Parameter(torch.randn(5, 2))
opt = torch.optim.Adam([*enc.parameters(), centres], 1e-2)
for _ in range(30):
    x = torch.randn(40, 8)
    z = enc(x)
    q = 1 / (1 + (z.unsqueeze(1) - centres).pow(2).sum(2))
    q = q / q.sum(1, keepdim=True)
    p = (q**2 / q.sum(0)).detach()
    p = p / p.sum(1, keepdim=True)
    loss = (p * (p / q).log()).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("dec")
