"""Must stay silent: A result that only its own operation has saved gets other memory: what was saved stays as it was."""
import torch
from torch import nn

torch.manual_seed(95)
net = nn.Linear(5, 8)
opt = torch.optim.SGD(net.parameters(), 0.01)
for _ in range(12):
    y = torch.exp(0.1 * net(torch.randn(20, 5)))
    y.data = y.data.clamp(max=1.2)
    loss = y.sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("other memory")
