"""A few corrupted targets make huge gradients that clipping hides from the updates."""
import torch
import torch.nn as nn

torch.manual_seed(10)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(180):
    x = torch.randn(32, 6)
    y = x.sum(1, keepdim=True)
    if step == 150:
        y[0] *= 2
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
print("done")
