"""a spectral term of the loss that goes through NumPy."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(34)
net = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 16))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)


def spectral(a, b):
    fa = torch.from_numpy(np.abs(np.fft.rfft(a.detach().numpy()))).float()  # EXPECT: path-cut
    fb = torch.fft.rfft(b).abs()
    return (fa - fb).abs().mean()


for _ in range(40):
    x = torch.randn(8, 16)
    y = torch.cumsum(x, 1)
    p = net(x)
    loss = (p - y).pow(2).mean() + 0.3 * spectral(p, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("spectra")
