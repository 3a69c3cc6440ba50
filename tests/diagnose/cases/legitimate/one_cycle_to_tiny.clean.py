"""Must stay silent: one cycle to tiny."""
import torch
from torch import nn
torch.manual_seed(27)
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 6))
opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=80, final_div_factor=1e6)
x = torch.randn(32, 6)
for _ in range(80):
    loss = (net(x) - x.roll(1, 1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
print("one cycle")
