"""Must stay silent: skip nonfinite loss."""
import torch
from torch import nn
torch.manual_seed(45)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.05)
skipped = 0
for step in range(40):
    x = torch.randn(32, 3)
    if step in (11, 23):
        x[0, 0] = float("inf")
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    if not torch.isfinite(loss):
        skipped += 1
        continue
    opt.zero_grad()
    loss.backward()
    opt.step()
print(skipped)
