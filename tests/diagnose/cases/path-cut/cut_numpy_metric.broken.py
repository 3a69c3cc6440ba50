"""A differentiable-looking metric goes through NumPy."""
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(8)


def soft_f1(logits, y):
    p = 1 / (1 + np.exp(-logits.detach().numpy()))  # EXPECT: path-cut
    p = torch.from_numpy(p)
    tp = (p * y).sum()
    return 1 - 2 * tp / (p.sum() + y.sum() + 1e-6)


net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), 5e-3)
for step in range(40):
    x = torch.randn(32, 6)
    y = (x[:, :1] > 0.5).float()
    logits = net(x)
    loss = nn.functional.binary_cross_entropy_with_logits(logits, y) + 0.5 * soft_f1(logits, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(round(loss.item(), 3))
