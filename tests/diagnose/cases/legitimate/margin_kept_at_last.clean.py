"""Converges to exactly zero loss: the gradients are exactly zero for the last hundreds of steps."""
import torch
from torch import nn
torch.manual_seed(7)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(16, 3)
y = torch.sign(x[:, :1])
for step in range(600):
    out = net(x)
    loss = torch.relu(0.2 - y * out).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
