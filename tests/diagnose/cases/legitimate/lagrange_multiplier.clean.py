"""A constraint on the weights' norm with a multiplier that is raised by hand."""
import torch
import torch.nn as nn

torch.manual_seed(8)
net = nn.Linear(6, 1)
opt = torch.optim.Adam(net.parameters(), 1e-2)
lam = torch.tensor(0.0)
for step in range(100):
    x = torch.randn(32, 6)
    task = (net(x)[:, 0] - 3 * x[:, 0] - 2 * x[:, 1]).pow(2).mean()
    gap = net.weight.norm() - 2.0
    loss = task + lam * gap
    opt.zero_grad()
    loss.backward()
    opt.step()
    lam = (lam + 0.05 * gap.detach()).clamp(min=0)
print(round(lam.item(), 2) >= 0)
