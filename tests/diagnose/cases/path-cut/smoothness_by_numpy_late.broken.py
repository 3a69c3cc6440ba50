"""A later term of the loss is a number that NumPy computes in a function."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(112)
net = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)


def smoothness(pred):
    p = pred.detach().numpy()  # EXPECT: path-cut
    return float(np.mean(np.diff(p, axis=0) ** 2))


for step in range(600):
    x = torch.randn(16, 6)
    pred = net(x)
    loss = (pred - x[:, :1]).square().mean()
    if step >= 300:
        loss = loss + 0.1 * smoothness(pred)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
