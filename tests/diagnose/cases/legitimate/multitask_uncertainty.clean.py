"""Must stay silent: multitask uncertainty."""
import torch
from torch import nn
torch.manual_seed(14)
trunk = nn.Sequential(nn.Linear(6, 20), nn.ReLU())
heads = nn.ModuleList(nn.Linear(20, 1) for _ in range(3))
log_var = nn.Parameter(torch.zeros(3))
opt = torch.optim.Adam([{"params": trunk.parameters()}, {"params": heads.parameters()}, {"params": [log_var], "lr": 1e-2}], 1e-3)
x = torch.randn(50, 6)
ys = [x[:, i : i + 1] * (i + 1) for i in range(3)]
log = []
for _ in range(30):
    h = trunk(x)
    each = torch.stack([(head(h) - y).pow(2).mean() for head, y in zip(heads, ys)])
    loss = (each * (-log_var).exp() + log_var).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    log.append([v.item() for v in each])
print(len(log))
