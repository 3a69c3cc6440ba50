"""Must stay silent: backward() of per-sample losses with importance weights that sum to one."""
import torch
from torch import nn

torch.manual_seed(184)
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for step in range(50):
    x = torch.randn(24, 4)
    y = x[:, :3].argmax(1)
    losses = nn.functional.cross_entropy(model(x), y, reduction="none")
    weights = torch.softmax(losses.detach(), dim=0)
    optimizer.zero_grad()
    losses.backward(weights)
    optimizer.step()
    if step % 10 == 9:
        print(step, round(losses.mean().item(), 4))
