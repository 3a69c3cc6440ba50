"""Must stay silent: noise in buffers, drawn anew in place after each update."""

import torch, math
from torch import nn

torch.manual_seed(30)


class Noisy(nn.Module):
    def __init__(s, i, o):
        super().__init__()
        s.mu = nn.Parameter(torch.empty(o, i).uniform_(-1 / math.sqrt(i), 1 / math.sqrt(i)))
        s.sig = nn.Parameter(torch.full((o, i), 0.5 / math.sqrt(i)))
        s.register_buffer("eps", torch.zeros(o, i))
        s.reset()

    def reset(s):
        s.eps.normal_()

    def forward(s, x):
        return nn.functional.linear(x, s.mu + s.sig * s.eps if s.training else s.mu)


q, t = nn.Sequential(Noisy(4, 16), nn.ReLU(), Noisy(16, 2)), nn.Sequential(Noisy(4, 16), nn.ReLU(), Noisy(16, 2))
t.load_state_dict(q.state_dict())
o = torch.optim.Adam(q.parameters(), 1e-3)
for i in range(60):
    s, s2 = torch.randn(32, 4), torch.randn(32, 4)
    a = torch.randint(0, 2, (32,))
    r = s[:, 0] * a
    with torch.no_grad():
        y = r + 0.9 * t(s2).gather(1, q(s2).argmax(1, keepdim=True)).squeeze(1)
    l = (q(s)[torch.arange(32), a] - y).pow(2).mean()
    o.zero_grad()
    l.backward()
    o.step()
    for m in (q, t):
        m[0].reset()
        m[2].reset()
    if i % 20 == 0:
        t.load_state_dict(q.state_dict())
print(f"{l.item():.3f}")
