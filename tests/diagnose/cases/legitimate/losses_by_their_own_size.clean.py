"""Must stay silent: losses normalised by their own detached value; gradient norms logged; per-sample weights from detached losses."""
import torch
from torch import nn

torch.manual_seed(14)
net = nn.Sequential(nn.Linear(5, 16), nn.ELU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
norms = []
for _ in range(60):
    x = torch.randn(24, 5)
    out = net(x)
    a = (out[:, 0] - x[:, 0]).pow(2)
    b = (out[:, 1] - x[:, 1:3].prod(1)).abs()
    w = torch.softmax(a.detach(), 0) * len(a)
    la, lb = (w * a).mean(), b.mean()
    loss = la / la.detach().clamp_min(1e-3) + lb / (lb.item() + 1e-3)
    opt.zero_grad()
    loss.backward()
    norms.append(nn.utils.clip_grad_norm_(net.parameters(), float("inf")).item())
    opt.step()
print(len(norms))
