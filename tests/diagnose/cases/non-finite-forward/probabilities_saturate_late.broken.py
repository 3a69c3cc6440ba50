"""From step 610 on the inputs are larger: probabilities are 0 and 1, and their logarithms infinite."""

import torch
from torch import nn

torch.manual_seed(11)
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)


def nll(p, y):
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()  # EXPECT: non-finite-forward


for step in range(700):
    x = torch.randn(10, 2)
    y = (x[:, :1] > 0).float()
    if step >= 610:
        x = x * 40
    p = torch.sigmoid(net(x) * (1 if step < 610 else 60))
    loss = nll(p, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("ok")
