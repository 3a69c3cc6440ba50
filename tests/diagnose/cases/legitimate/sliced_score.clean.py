"""Sliced score matching with random projections."""
import torch
import torch.nn as nn

torch.manual_seed(16)
net = nn.Sequential(nn.Linear(2, 32), nn.Softplus(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), 3e-3)
for step in range(60):
    x = (torch.randn(64, 2) * torch.tensor([1.0, 0.3])).requires_grad_()
    v = torch.randn_like(x)
    s = net(x)
    (jv,) = torch.autograd.grad((s * v).sum(), x, create_graph=True)
    loss = ((jv * v).sum(1) + 0.5 * (s * v).sum(1) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.isfinite().item())
