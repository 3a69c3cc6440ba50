"""Hard attention: the sampled place by REINFORCE with a learned baseline, the rest by ordinary gradients."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(14)
where, what, base = nn.Linear(12, 4), nn.Linear(3, 2), nn.Linear(12, 1)
params = [*where.parameters(), *what.parameters(), *base.parameters()]
opt = torch.optim.Adam(params, 5e-3)
for step in range(80):
    x = torch.randn(32, 4, 3)
    y = (x[:, 2, 0] > 0).long()
    flat = x.flatten(1)
    dist = Categorical(logits=where(flat))
    place = dist.sample()
    logits = what(x[torch.arange(32), place])
    ce = F.cross_entropy(logits, y, reduction="none")
    reward = (logits.argmax(1) == y).float()
    b = base(flat).squeeze(-1)
    loss = ce.mean() - (dist.log_prob(place) * (reward - b.detach())).mean() + F.mse_loss(b, reward)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(round(reward.mean().item(), 1) >= 0)
