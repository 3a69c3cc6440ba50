"""The average is one of numbers."""

import copy
import torch
from torch import nn

torch.manual_seed(20)
q = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3))
target = copy.deepcopy(q).requires_grad_(False)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
average = None
for step in range(900):
    s, s2 = torch.randn(16, 4), torch.randn(16, 4)
    a, r = torch.randint(3, (16, 1)), torch.randn(16, 1)
    goal = r + 0.9 * target(s2).max(1, keepdim=True).values
    loss = (q(s).gather(1, a) - goal).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        target.load_state_dict(q.state_dict())
    if step >= 500:
        average = loss.item() if average is None else 0.99 * average + 0.01 * loss.item()
print("ok")
