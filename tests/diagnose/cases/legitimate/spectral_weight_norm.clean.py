"""Must stay silent: spectral weight norm."""
import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm, weight_norm
torch.manual_seed(48)
net = nn.Sequential(spectral_norm(nn.Linear(4, 16)), nn.ReLU(), weight_norm(nn.Linear(16, 1)))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for _ in range(20):
    x = torch.randn(32, 4)
    loss = (net(x) - x[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
net.eval()
with torch.no_grad():
    print(net(torch.zeros(1, 4)).shape)
