"""A metric logger keeps the last hundred losses as they are."""
from collections import deque
import torch
from torch import nn

torch.manual_seed(33)


class SmoothedValue:
    def __init__(self, window=100):
        self.values = deque(maxlen=window)

    def update(self, v):
        self.values.append(v)

    @property
    def mean(self):
        return torch.stack([v.detach() for v in self.values]).mean().item()


class Logger:
    def __init__(self):
        self.meters = {}

    def log(self, **kw):
        for k, v in kw.items():
            self.meters.setdefault(k, SmoothedValue()).update(v)


log = Logger()
net = nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(60):
    x = torch.randn(32, 10)
    loss = (net(x) - x.sum(1, keepdim=True)).abs().mean()  # EXPECT: graphs-accumulate
    opt.zero_grad()
    loss.backward()
    opt.step()
    log.log(loss=loss)
print(log.meters["loss"].mean > 0)
