"""`p.grad.zero_()` in a loop, as older programs do."""
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
for i in range(150):
    x = torch.randn(8, 4)
    loss = net(x).pow(2).mean()
    for p in net.parameters():
        if p.grad is not None:
            p.grad.zero_()
    loss.backward()
    opt.step()
print(loss.item())
