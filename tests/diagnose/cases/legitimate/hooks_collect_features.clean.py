"""Must stay silent: hooks collect features."""
import torch
from torch import nn
torch.manual_seed(49)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
feats = {}
for i, m in enumerate(net):
    m.register_forward_hook(lambda mod, a, out, i=i: feats.__setitem__(i, out))
opt = torch.optim.SGD(net.parameters(), 0.02)
for _ in range(30):
    x = torch.randn(16, 4)
    loss = (net(x) - x[:, :1]).pow(2).mean() + 1e-3 * sum(feats[i].abs().mean() for i in (1, 3))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(feats))
