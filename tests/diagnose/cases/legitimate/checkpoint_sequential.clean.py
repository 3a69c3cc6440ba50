"""Must stay silent: checkpoint sequential."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential
torch.manual_seed(57)
net = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.ReLU(), nn.Dropout(0.1)) for _ in range(4)])
head = nn.Linear(8, 1)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()], 1e-3)
for _ in range(15):
    x = torch.randn(16, 8, requires_grad=True)
    loss = (head(checkpoint_sequential(net, 2, x, use_reentrant=False)) - x[:, :1].detach()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("sequential checkpoint")
