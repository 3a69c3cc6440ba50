"""Predictions for an epoch-wide metric are kept with their graphs, in a bounded deque."""
from collections import deque
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(5, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
recent = deque(maxlen=100)
for i in range(80):
    x = torch.randn(10, 5)
    y = (x[:, 0] > 0).long()
    out = net(x)  # EXPECT: graphs-accumulate
    loss = nn.functional.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    recent.append((out, y))
acc = torch.cat([o.argmax(1) == t for o, t in recent]).float().mean()
print(acc.item())
