"""every seventh step squared gradients of the log-likelihood are added up per weight (how much each matters), then cleared."""

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(313)
net = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
matters = {name: torch.zeros_like(p) for name, p in net.named_parameters()}
for step in range(90):
    x = torch.randn(16, 5)
    y = x[:, :3].argmax(1)
    if step % 7 == 6:
        net.zero_grad()
        F.nll_loss(F.log_softmax(net(x), 1), y).backward()
        matters = {name: matters[name] + p.grad.data**2 for name, p in net.named_parameters()}
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
print(round(loss.item(), 3), round(float(sum(m.sum() for m in matters.values())), 3))
