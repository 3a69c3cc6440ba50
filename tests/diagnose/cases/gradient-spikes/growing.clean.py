"""A schedule raises the rate a little above what the curvature bears: the oscillation grows slowly."""
import torch
from torch import nn

torch.manual_seed(58)
net = nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: 1 + 2 * min(k, 60) / 60)
data = torch.randn(200, 5)
goal = data @ torch.randn(5, 1) + 0.1 * torch.randn(200, 1)
for step in range(220):
    rows = torch.randint(0, 200, (50,))
    loss = nn.functional.mse_loss(net(data[rows]), goal[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()
print(step)
