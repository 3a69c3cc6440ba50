import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(500):
    x = torch.randn(8, 4)
    loss = nn.functional.mse_loss(net(x), x[:, :1])
    if step < 300:
        opt.zero_grad()
    loss.backward()  # ALSO: stale-gradient  # MAY: gradient-spikes
    opt.step()  # EXPECT: stale-gradient
print(loss.item())
