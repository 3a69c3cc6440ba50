"""The same, with clipping: the update is small, but goes where this batch alone points."""
import torch
from torch import nn

torch.manual_seed(91)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), 1e-2, momentum=0.9)
for number in range(1000):
    x = torch.randn(32, 6)
    y = x.sum(1, keepdim=True)
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    opt.step()
print("over")
