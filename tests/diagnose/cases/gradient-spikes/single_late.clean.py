"""One late batch with an outlier of a thousand."""
import torch
from torch import nn

torch.manual_seed(57)
net = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)


def stream(n):
    for i in range(n):
        x = torch.randn(32, 6)
        y = x.sum(1, keepdim=True)
        yield x, y


for x, y in stream(220):
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("end of stream")
