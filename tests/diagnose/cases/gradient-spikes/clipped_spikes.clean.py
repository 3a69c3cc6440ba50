"""A loss with an unbounded ratio: clipping hides spikes of a thousand times the usual norm from the updates."""
import torch
from torch import nn

torch.manual_seed(19)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(150):
    x = torch.randn(32, 6)
    x[:, 0] = torch.where(x[:, 0].abs() < 0.01, 0.01, x[:, 0])
    y = x.sum(1, keepdim=True)
    d = (y - net(x)).abs()
    weight = 1.0 / (x[:, :1].abs() ** 2 + 0.3)
    loss = (weight * d).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
print(f"{loss.item():.3f}")
