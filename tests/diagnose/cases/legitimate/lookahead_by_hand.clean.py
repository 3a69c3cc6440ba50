"""slow weights: every five steps the fast ones are pulled back half way, under no_grad."""
import torch
from torch import nn

torch.manual_seed(102)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
slow = [p.detach().clone() for p in net.parameters()]
for step in range(60):
    x = torch.randn(20, 4)
    loss = (net(x).squeeze(1) - x[:, 0]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 5 == 4:
        with torch.no_grad():
            for p, s in zip(net.parameters(), slow):
                s.lerp_(p, 0.5)
                p.copy_(s)
print("end")
