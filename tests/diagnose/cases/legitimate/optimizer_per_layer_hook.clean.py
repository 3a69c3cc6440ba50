"""Must stay silent: optimizer per layer hook."""
import torch
from torch import nn
torch.manual_seed(52)
net = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
opts = {p: torch.optim.Adam([p], 1e-2) for p in net.parameters()}
def hook(p):
    opts[p].step()
    opts[p].zero_grad()
for p in net.parameters():
    p.register_post_accumulate_grad_hook(hook)
x = torch.randn(64, 5)
for _ in range(25):
    (net(x) - x[:, :1]).pow(2).mean().backward()
print("fused")
