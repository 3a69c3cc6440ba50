"""gradient accumulation over four micro-batches, but the clear sits inside the micro-batch loop."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(47)
net = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 20)
for update in range(15):
    opt.zero_grad()
    for micro in range(4):
        x = torch.randn(8, 5)
        loss = F.cross_entropy(net(x), x[:, :4].argmax(1)) / 4
        loss.backward()
    opt.step()
    sched.step()
print("end")
