"""Must stay silent: byol predictor."""
import copy
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(18)
online = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
target = copy.deepcopy(online).requires_grad_(False)
pred = nn.Linear(4, 4)
opt = torch.optim.Adam([*online.parameters(), *pred.parameters()], 3e-3)
for _ in range(30):
    x = torch.randn(32, 8)
    a, b = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    with torch.no_grad():
        ta, tb = target(a), target(b)
    loss = -(F.cosine_similarity(pred(online(a)), tb).mean() + F.cosine_similarity(pred(online(b)), ta).mean())
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for o, t in zip(online.parameters(), target.parameters()):
            t.mul_(0.99).add_(o, alpha=0.01)
print("byol")
