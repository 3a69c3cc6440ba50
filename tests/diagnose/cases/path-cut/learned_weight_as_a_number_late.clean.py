"""It stays a tensor."""
import math
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(201)


class TwoTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(8, 24)
        self.cls, self.reg = nn.Linear(24, 3), nn.Linear(24, 1)
        self.log_var = nn.Parameter(torch.full((1,), -0.3))

    def forward(self, x):
        h = F.gelu(self.trunk(x))
        return self.cls(h), self.reg(h)


net = TwoTask()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)


def second_term(reg, target):
    precision = torch.exp(-net.log_var)
    return (precision * (reg - target).square()).mean()


for epoch in range(14):
    for _ in range(30):
        x = torch.randn(16, 8)
        logits, reg = net(x)
        loss = F.cross_entropy(logits, x[:, :3].argmax(1))
        if epoch >= 10:
            loss = loss + second_term(reg, x[:, :1]) + 0.0 * net.reg.weight.sum()
        else:
            loss = loss + (reg - x[:, :1]).square().mean() + 0.5 * net.log_var.square().sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
print(net.log_var.item())
