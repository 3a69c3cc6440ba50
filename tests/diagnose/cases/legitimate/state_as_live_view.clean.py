"""Must stay silent: A state_dict is taken once and used as a view of the weights as they are."""
import torch
from torch import nn

torch.manual_seed(76)
net, avg = nn.Linear(4, 4), nn.Linear(4, 4)
avg.requires_grad_(False)
live, mean = net.state_dict(), avg.state_dict()
opt = torch.optim.SGD(net.parameters(), 0.05)
x = torch.randn(30, 4)
for _ in range(25):
    loss = (net(x) - x.flip(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for k in live:
        mean[k].lerp_(live[k], 0.1)
    gap = sum((mean[k] - live[k]).abs().sum().item() for k in live)
print(gap > 0)
