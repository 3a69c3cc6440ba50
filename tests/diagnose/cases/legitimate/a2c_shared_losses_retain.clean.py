"""Must stay silent: a2c shared losses retain."""
import torch
from torch import nn
torch.manual_seed(33)
trunk, pi, v = nn.Linear(4, 16), nn.Linear(16, 2), nn.Linear(16, 1)
op = torch.optim.Adam([*trunk.parameters(), *pi.parameters()], 1e-3)
ov = torch.optim.Adam(v.parameters(), 1e-3)
for _ in range(20):
    h = trunk(torch.randn(32, 4)).tanh()
    val = v(h).squeeze(1)
    r = torch.randn(32)
    lp = pi(h).log_softmax(1)[:, 0]
    a_loss, c_loss = -(lp * (r - val.detach())).mean(), (val - r).pow(2).mean()
    op.zero_grad()
    ov.zero_grad()
    a_loss.backward(retain_graph=True)
    c_loss.backward()
    op.step()
    ov.step()
print("a2c")
