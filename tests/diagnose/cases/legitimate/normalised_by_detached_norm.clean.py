"""Terms are scaled by their own detached size; a log of numbers beside it."""
import torch
from torch import nn

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(5, 16), nn.ELU(), nn.Linear(16, 2))
opt = torch.optim.AdamW(net.parameters(), 2e-3)
log = []
for i in range(60):
    x = torch.randn(16, 5)
    out = net(x)
    mse = (out - x[:, :2]).square().mean()
    reg = sum(p.abs().sum() for p in net.parameters())
    scale = mse.item() / (reg.item() + 1e-8)
    loss = mse + 0.1 * scale * reg
    opt.zero_grad()
    loss.backward()
    opt.step()
    log.append((mse.item(), reg.item(), scale))
print(f"{log[-1][0]:.3f}")
