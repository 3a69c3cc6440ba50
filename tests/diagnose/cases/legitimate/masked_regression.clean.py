"""Missing targets are NaN in the data and masked out before the loss."""
import torch
import torch.nn as nn

torch.manual_seed(12)
net = nn.Sequential(nn.Linear(5, 16), nn.Softplus(), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), 5e-3)
for step in range(60):
    x = torch.randn(16, 5)
    y = torch.stack([x.sum(1), x.prod(1), x[:, 0] - x[:, 1]], 1)
    y[torch.rand_like(y) < 0.3] = float("nan")
    mask = torch.isfinite(y)
    pred = net(x)
    err = (pred - torch.nan_to_num(y)).abs() * mask
    loss = err.sum() / mask.sum().clamp(min=1)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(round(loss.item(), 2) > 0)
