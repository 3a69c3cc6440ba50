"""Must stay silent: a random feature network compares output and target; it gets gradients and is not trained."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(1)
x = torch.randn(96, 6)
gen = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 6))
features = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 12))
opt = torch.optim.Adam(gen.parameters(), lr=1e-3)
for step in range(40):
    out = gen(x)
    loss = F.l1_loss(out, x) + 0.1 * F.mse_loss(features(out), features(x))
    opt.zero_grad()
    loss.backward()
    opt.step()
