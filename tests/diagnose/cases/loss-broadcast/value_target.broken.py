"""Values (B, 1) against returns (B,) in a hand-written Huber."""
import torch
from torch import nn

torch.manual_seed(49)
value = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 1))
opt = torch.optim.Adam(value.parameters(), 1e-3)


def huber(p, t, d=1.0):
    e = (p - t).abs()  # EXPECT: loss-broadcast
    return torch.where(e < d, 0.5 * e**2, d * (e - 0.5 * d)).mean()


for it in range(12):
    s = torch.randn(48, 5)
    returns = s.sum(1)
    loss = huber(value(s), returns)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(it)
