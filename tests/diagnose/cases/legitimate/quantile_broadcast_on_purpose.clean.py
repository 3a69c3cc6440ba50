"""Must stay silent: quantile broadcast on purpose."""
import torch
from torch import nn
torch.manual_seed(38)
taus = torch.tensor([0.1, 0.5, 0.9])
net = nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters(), 1e-2)
for _ in range(25):
    x = torch.randn(64, 4)
    y = x.sum(1, keepdim=True) + torch.randn(64, 1)
    e = y - net(x)
    loss = torch.maximum(taus * e, (taus - 1) * e).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("quantiles")
