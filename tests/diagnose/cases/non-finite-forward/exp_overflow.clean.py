"""A flow whose log-scale is not bounded."""
import torch
from torch import nn

torch.manual_seed(52)


class Coupling(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        a, b = x.chunk(2, 1)
        s, t = self.net(a).chunk(2, 1)
        return torch.cat([a, (b * torch.exp(torch.tanh(s)) + t)], 1), s.sum(1)


flow = nn.ModuleList([Coupling() for _ in range(2)])
opt = torch.optim.Adam(flow.parameters(), 5e-3)
for step in range(30):
    x = torch.randn(64, 4) * (4 if step > 10 else 0.05)
    logdet = 0
    for f in flow:
        x, ld = f(x)
        logdet = logdet + ld
    loss = (0.5 * x.pow(2).sum(1) - logdet).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("flow")
