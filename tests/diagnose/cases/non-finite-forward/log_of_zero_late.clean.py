"""The log-likelihood of a mask that is empty in one late batch."""
import torch
from torch import nn

torch.manual_seed(51)
net = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 1))
opt = torch.optim.SGD(net.parameters(), 0.05)


def masked_mean(v, m):
    return (v * m).sum() / m.sum().clamp(min=1)


for step in range(50):
    x = torch.randn(16, 4)
    mask = (x[:, 0] > -0.5).float() if step != 37 else torch.zeros(16)
    err = (net(x).squeeze(1) - x.sum(1)).pow(2)
    loss = masked_mean(err, mask)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(step)
