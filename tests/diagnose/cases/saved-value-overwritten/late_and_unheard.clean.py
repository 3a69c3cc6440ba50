"""After 300 steps a regulariser modifies the activations in place."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh())
head = nn.Linear(16, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], 0.01)
for step in range(330):
    x = torch.randn(8, 6)
    h = net(x)
    if step > 300:
        h = h * 0.9
    loss = (head(h) - x[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("ok")
