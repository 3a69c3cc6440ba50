"""After 250 steps an attack begins: backward passes whose parameter gradients are cleared."""
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(3)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(500):
    x = torch.randn(8, 6)
    y = (x[:, 0] > 0).long()
    if step >= 250:
        x.requires_grad_()
        F.cross_entropy(net(x), y).backward()
        x = (x + 0.1 * x.grad.sign()).detach()
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
print(loss.item())
