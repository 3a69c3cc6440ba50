"""The penalty is a sum over numbers taken out of the graph one by one."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(15)
net = nn.Sequential(nn.Linear(9, 30), nn.ReLU(), nn.Linear(30, 3))


def group_lasso(module):
    norms = [w.norm(dim=1).sum() for w in module.parameters() if w.ndim > 1]
    return torch.tensor([n.item() for n in norms]).sum()  # EXPECT: path-cut


opt = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(99, 9)
y = torch.arange(99) % 3
for epoch in range(25):
    opt.zero_grad()
    ce = F.cross_entropy(net(x), y)
    (ce + 1e-3 * group_lasso(net)).backward()
    opt.step()
print(epoch)
