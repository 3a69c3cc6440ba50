"""Must stay silent: feature extractor eval mode."""
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(6)
backbone = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2))
head = nn.Linear(32, 3)
x, y = torch.randn(64, 10), torch.arange(64) % 3
pre = torch.optim.Adam([*backbone.parameters(), *head.parameters()], 1e-2)
for _ in range(25):
    loss = F.cross_entropy(head(backbone(x)), y)
    pre.zero_grad()
    loss.backward()
    pre.step()
backbone.eval().requires_grad_(False)
head = nn.Linear(32, 2)
fine = torch.optim.SGD(head.parameters(), 0.1)
for _ in range(40):
    loss = F.cross_entropy(head(backbone(x)), y % 2)
    fine.zero_grad()
    loss.backward()
    fine.step()
print("probe")
