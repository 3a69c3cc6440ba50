"""How far the weights have moved is measured against a reference that moves along."""
import torch
from torch import nn

torch.manual_seed(71)


class Drift:
    def __init__(self, model):
        self.model = model
        self.start = {k: v for k, v in model.state_dict().items() if v.is_floating_point()}  # EXPECT: snapshot-aliased
        self.curve = []

    def __call__(self):
        now = self.model.state_dict()
        self.curve.append(sum((now[k] - v).pow(2).sum() for k, v in self.start.items()).item())


net = nn.Linear(6, 6)
drift = Drift(net)
opt = torch.optim.Adam(net.parameters(), 1e-2)
x = torch.randn(50, 6)
for _ in range(20):
    loss = (net(x) - x.flip(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    drift()
print(len(drift.curve))
