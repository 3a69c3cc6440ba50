"""In a second phase the loss is a hundred times as large, with a learning rate that is smaller."""
import torch
import torch.nn as nn

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), 1e-2)
for step in range(240):
    if step == 150:
        for g in opt.param_groups:
            g["lr"] = 1e-4
    x = torch.randn(32, 4)
    loss = (net(x) - x.sum(1, keepdim=True)).abs().mean()
    if step >= 150:
        loss = 5 * loss
    opt.zero_grad()
    loss.backward()
    opt.step()
print(round(loss.item(), 2) >= 0)
