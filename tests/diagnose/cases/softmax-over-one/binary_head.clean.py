"""A binary classifier with one output and a softmax."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(48)


def make_head(n_classes):
    return nn.Sequential(nn.Linear(12, n_classes), nn.Sigmoid())


trunk, head = nn.Sequential(nn.Linear(4, 12), nn.ReLU()), make_head(1)
opt = torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.1)
x = torch.randn(60, 4)
y = (x[:, 0] > 0).float()
for _ in range(25):
    p = head(trunk(x)).squeeze(-1)
    loss = F.binary_cross_entropy(p, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(p.shape)
