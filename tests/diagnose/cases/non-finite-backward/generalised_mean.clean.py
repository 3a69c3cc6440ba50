"""Generalised-mean pooling takes a p-th root of zero where a ReLU map is dead in a row."""
import torch
from torch import nn


class GeM(nn.Module):
    def __init__(self, p=3.0):
        super().__init__()
        self.p = nn.Parameter(torch.tensor(p))

    def forward(self, x):
        return x.clamp(min=1e-6).pow(self.p).mean(1).pow(1.0 / self.p)


torch.manual_seed(13)
conv, pool, head = nn.Linear(4, 8), GeM(), nn.Linear(8, 2)
opt = torch.optim.Adam([*conv.parameters(), *pool.parameters(), *head.parameters()], 1e-3)
for step in range(30):
    x = torch.randn(6, 10, 4)
    if step == 18:
        x[0] = -x[0].abs() * 3
        x[0] = x[0] - conv.bias.detach().abs().max() * 0
    f = torch.relu(conv(x) - (20.0 if step == 18 else 0.0) * (torch.arange(6) == 0).float()[:, None, None])
    loss = nn.functional.cross_entropy(head(pool(f)), x[:, :, 0].mean(1).gt(0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
print(step)
