"""Must stay silent: metrics with NumPy and sklearn-like code beside a loss; a class weight comes from recent errors."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(3)
net = nn.Linear(6, 3)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
errors = np.ones(3)
for step in range(60):
    x = torch.randn(32, 6)
    y = x[:, :3].argmax(1)
    w = torch.from_numpy(errors / errors.sum() * 3).float()
    logits = net(x)
    loss = nn.functional.cross_entropy(logits, y, weight=w)
    opt.zero_grad()
    loss.backward()
    opt.step()
    guess = logits.detach().numpy().argmax(1)
    for c in range(3):
        m = y.numpy() == c
        errors[c] = 0.9 * errors[c] + 0.1 * ((guess[m] != c).mean() if m.any() else 0.5)
print(errors.shape)
