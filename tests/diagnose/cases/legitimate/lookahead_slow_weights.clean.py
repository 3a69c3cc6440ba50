"""Must stay silent: lookahead slow weights."""
import torch
from torch import nn
torch.manual_seed(16)
net = nn.Linear(4, 4)
opt = torch.optim.Adam(net.parameters(), 1e-2)
slow = [p.detach().clone() for p in net.parameters()]
x = torch.randn(40, 4)
for step in range(30):
    loss = (net(x) - x.flip(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 5 == 4:
        for s, p in zip(slow, net.parameters()):
            s += 0.5 * (p.data - s)
            p.data.copy_(s)
print("lookahead")
