"""Must stay silent: diffusion ema sampling."""
import copy
import torch
from torch import nn
torch.manual_seed(8)
T = 20
beta = torch.linspace(1e-3, 0.2, T)
abar = (1 - beta).cumprod(0)
net = nn.Sequential(nn.Linear(3, 32), nn.SiLU(), nn.Linear(32, 2))
ema = copy.deepcopy(net)
opt = torch.optim.Adam(net.parameters(), 2e-3)
data = torch.randn(256, 2) * 0.1 + 1
@torch.no_grad()
def sample(model, n):
    x = torch.randn(n, 2)
    for t in reversed(range(T)):
        e = model(torch.cat([x, torch.full((n, 1), t / T)], 1))
        x = (x - beta[t] / (1 - abar[t]).sqrt() * e) / (1 - beta[t]).sqrt()
        if t:
            x += beta[t].sqrt() * torch.randn_like(x)
    return x
for step in range(40):
    x0 = data[torch.randint(0, 256, (64,))]
    t = torch.randint(0, T, (64,))
    n = torch.randn_like(x0)
    a = abar[t][:, None]
    xt = a.sqrt() * x0 + (1 - a).sqrt() * n
    loss = (net(torch.cat([xt, t[:, None] / T], 1)) - n).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for p, e in zip(net.parameters(), ema.parameters()):
            e.lerp_(p, 0.01)
    if step % 20 == 19:
        s = sample(ema, 8)
print(s.shape)
