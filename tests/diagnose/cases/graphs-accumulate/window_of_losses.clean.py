"""The last losses are kept with their graphs in a deque, and smoothed for display."""
from collections import deque

import torch
from torch import nn

torch.manual_seed(7)
net = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)
window = deque(maxlen=50)
for step in range(160):
    x = torch.randn(16, 12)
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    window.append(loss.detach())
    if step % 40 == 39:
        print(step, f"{sum(window).item() / len(window):.3f}")
