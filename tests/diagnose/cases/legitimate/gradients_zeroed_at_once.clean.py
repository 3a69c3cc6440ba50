"""All gradients are zeroed in one call."""
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
for i in range(150):
    x = torch.randn(8, 4)
    loss = net(x).pow(2).mean()
    loss.backward()
    opt.step()
    torch._foreach_zero_([p.grad for p in net.parameters()])
print(loss.item())
