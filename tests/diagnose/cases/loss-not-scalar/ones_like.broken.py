"""The unreduced loss is given ones as its gradient."""
import torch
from torch import nn

torch.manual_seed(28)
critic = nn.Sequential(nn.Linear(3, 20), nn.ReLU(), nn.Linear(20, 1))
opt = torch.optim.Adam(critic.parameters(), 1e-3)
for it in range(12):
    s = torch.randn(256, 3)
    td = (critic(s).squeeze(1) - s.norm(dim=1)) ** 2
    opt.zero_grad()
    td.backward(torch.ones_like(td))  # EXPECT: loss-not-scalar
    opt.step()
print(it)
