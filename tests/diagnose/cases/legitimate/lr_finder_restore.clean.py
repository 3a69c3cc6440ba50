"""Must stay silent: lr finder restore."""
import copy
import torch
from torch import nn
torch.manual_seed(51)
net = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
x = torch.randn(64, 5)
y = x.sum(1, keepdim=True)
start = copy.deepcopy(net.state_dict())
opt = torch.optim.SGD(net.parameters(), 1e-6)
for _ in range(40):
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    opt.param_groups[0]["lr"] *= 1.3
net.load_state_dict(start)
opt = torch.optim.SGD(net.parameters(), 1e-2)
for _ in range(20):
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("found")
