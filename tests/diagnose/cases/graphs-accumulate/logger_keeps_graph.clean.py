"""A logging helper keeps what it is given in a dictionary of lists."""
import torch
from torch import nn
from collections import defaultdict


class Logger:
    def __init__(self):
        self.data = defaultdict(list)

    def log(self, **values):
        for k, v in values.items():
            self.data[k].append(v.detach() if torch.is_tensor(v) else v)


torch.manual_seed(3)
log = Logger()
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(60):
    x = torch.randn(16, 6)
    out = net(x)
    loss = (out - x[:, :2]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    log.log(loss=loss, lr=1e-3)
print(f"{sum(float(v) for v in log.data['loss']) / 60:.3f}")
