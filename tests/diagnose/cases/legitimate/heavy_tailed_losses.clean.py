"""Must stay silent: Losses with heavy tails: large ones come again and again."""
import torch
from torch import nn

torch.manual_seed(92)
net = nn.Linear(6, 1)
opt = torch.optim.Adam(net.parameters(), 1e-3)
noise = torch.distributions.StudentT(2.0)
for number in range(1200):
    x = torch.randn(16, 6)
    y = x.sum(1, keepdim=True) + noise.sample((16, 1))
    loss = nn.functional.smooth_l1_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("over")
