"""Legitimate twin: the reference has a trunk of its own."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(419)


def build(trunk):
    return nn.Sequential(trunk, nn.ReLU(), nn.Linear(16, 4))


trunk = nn.Linear(6, 16)
policy = build(trunk)
reference = build(nn.Linear(6, 16))
for p in reference.parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam(policy.parameters(), 3e-3)
for _ in range(60):
    x = torch.randn(32, 6)
    win, lose = x[:, :4].argmax(1), x[:, :4].argmin(1)
    lp, lr = F.log_softmax(policy(x), 1), F.log_softmax(reference(x), 1)
    pick = lambda t, i: t.gather(1, i[:, None])[:, 0]
    margin = (pick(lp, win) - pick(lr, win)) - (pick(lp, lose) - pick(lr, lose))
    loss = -F.logsigmoid(0.5 * margin).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
