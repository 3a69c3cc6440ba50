"""Must stay silent: cosine restarts zero."""
import torch
from torch import nn
torch.manual_seed(28)
net = nn.Linear(6, 6)
opt = torch.optim.SGD(net.parameters(), 0.1)
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 10)
x = torch.randn(32, 6)
for _ in range(50):
    loss = (net(x) - x.roll(1, 1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
print("restarts")
