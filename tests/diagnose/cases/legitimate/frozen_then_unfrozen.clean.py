"""Must stay silent: frozen then unfrozen."""
import torch
from torch import nn
torch.manual_seed(29)
body, head = nn.Sequential(nn.Linear(6, 16), nn.ReLU()), nn.Linear(16, 2)
body.requires_grad_(False)
opt = torch.optim.Adam([*body.parameters(), *head.parameters()], 1e-2)
x, y = torch.randn(40, 6), torch.arange(40) % 2
for epoch in range(60):
    if epoch == 30:
        for p in body.parameters():
            p.requires_grad = True
    loss = nn.functional.cross_entropy(head(body(x)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("thawed")
