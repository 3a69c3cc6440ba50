"""They get a gradient that makes their mean."""
import torch
from torch import nn

torch.manual_seed(26)
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(450):
    x = torch.randn(20, 4)
    y = x[:, :3].argmax(1)
    opt.zero_grad()
    if step < 300:
        nn.functional.cross_entropy(net(x), y).backward()
    else:
        per_sample = nn.functional.cross_entropy(net(x), y, reduction="none")
        per_sample.backward(torch.full_like(per_sample, 1 / 20))
    opt.step()
print("done")
