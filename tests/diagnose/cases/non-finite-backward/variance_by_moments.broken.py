"""A standard deviation from two moments; for one constant column it is the root of nearly nothing."""
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 12))
head = nn.Linear(12, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], 1e-3)
with torch.no_grad():
    net[0].weight[3].zero_()
    net[0].bias[3] = -1.0
for step in range(30):
    x = torch.randn(16, 6)
    h = net(x)
    mean, square = h.mean(0), (h * h).mean(0)
    std = (square - mean**2).sqrt()  # EXPECT: non-finite-backward
    loss = (head((h - mean) / (std + 1.0)) - x[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()  # MAY: non-finite-forward
print("done")
