"""Clipping was put into a hook that runs after the step."""
import torch
from torch import nn

torch.manual_seed(17)
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)


def clip(optimizer, args, kwargs):
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)


opt.register_step_pre_hook(clip)
for step in range(30):
    x = torch.randn(16, 6)
    opt.zero_grad()
    (net(x) - x.sum(1, keepdim=True)).square().mean().backward()
    opt.step()
print("done")
