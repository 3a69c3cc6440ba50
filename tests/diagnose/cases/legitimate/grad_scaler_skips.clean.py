"""Must stay silent: grad scaler skips."""
import torch
from torch import nn
torch.manual_seed(43)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), 0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=5)
for _ in range(40):
    x = torch.randn(16, 4)
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
print(scaler.get_scale() < 2.0**127)
