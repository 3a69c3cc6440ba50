"""Must stay silent: accumulate uneven."""
import torch
from torch import nn
torch.manual_seed(9)
net = nn.Linear(5, 5)
opt = torch.optim.SGD(net.parameters(), 0.01)
x = torch.randn(70, 5)
k = 3
for epoch in range(4):
    for i, xb in enumerate(x.split(10)):
        ((net(xb) - xb).pow(2).mean() / k).backward()
        if (i + 1) % k == 0 or i == 6:
            opt.step()
            opt.zero_grad()
print("acc")
