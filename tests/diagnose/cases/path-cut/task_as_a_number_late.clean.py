"""Its weight changes instead."""

import torch
from torch import nn

torch.manual_seed(5)


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(6, 12)
        self.cls = nn.Linear(12, 3)
        self.reg = nn.Linear(12, 1)

    def forward(self, x):
        h = self.enc(x).relu()
        return self.cls(h), self.reg(h)


net = Two()
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
for step in range(700):
    x, y, z = torch.randn(12, 6), torch.randint(3, (12,)), torch.randn(12, 1)
    c, r = net(x)
    l1 = nn.functional.cross_entropy(c, y)
    l2 = (r - z).pow(2).mean()
    if step < 350:
        loss = l1 + l2
    else:
        loss = l1 + 0.1 * l2
    opt.zero_grad()
    loss.backward()
    opt.step()
print("ok")
