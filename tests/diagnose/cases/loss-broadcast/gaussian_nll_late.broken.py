"""In the second phase the targets come from another loader, without the trailing axis."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(50)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), 1e-2)


def simulated(n):
    x = torch.rand(n, 3)
    return x, x.sum(1, keepdim=True)


def measured(n):
    x = torch.rand(n, 3)
    return x, x.sum(1) + 0.01 * torch.randn(n)


for phase, source, steps in [("pretrain", simulated, 40), ("finetune", measured, 30)]:
    for _ in range(steps):
        x, y = source(32)
        loss = F.mse_loss(net(x), y)  # EXPECT: loss-broadcast
        opt.zero_grad()
        loss.backward()
        opt.step()
print(phase)
