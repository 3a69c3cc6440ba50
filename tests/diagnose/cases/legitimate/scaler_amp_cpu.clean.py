"""Must stay silent: scaler amp cpu."""
import torch
from torch import nn
torch.manual_seed(3)
net = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 1))
opt = torch.optim.AdamW(net.parameters(), 1e-3)
for it in range(20):
    x = torch.randn(32, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = (net(x).float() - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad(set_to_none=True)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), float("inf"))
    opt.step()
print("amp", bool(norm > 0))
