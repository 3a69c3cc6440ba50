"""Weights near 200 in bfloat16 with a small learning rate: the update is lost."""
import torch
from torch import nn

torch.manual_seed(21)


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = nn.Parameter(torch.full((8,), 250.0, dtype=torch.float32))
        self.mix = nn.Linear(8, 8)

    def forward(self, x):
        return self.mix(x) + self.offset.float() / 250


net = Scale()
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
x = torch.randn(64, 8)
for step in range(60):
    loss = (net(x) - 3.0).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(step)
