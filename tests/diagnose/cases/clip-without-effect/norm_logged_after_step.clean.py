"""The norm of the gradients is logged after the step by clipping with a limit that is never reached."""
import torch
from torch import nn
torch.manual_seed(10)
net = nn.Linear(5, 1)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
log = []
for i in range(50):
    x = torch.randn(16, 5)
    loss = (net(x) - x[:, :1]).pow(2).mean()
    loss.backward()
    opt.step()
    log.append(nn.utils.clip_grad_norm_(net.parameters(), 1e9).item())
    opt.zero_grad()
print(f"{sum(log) / 50:.3f}")
