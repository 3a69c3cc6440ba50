"""Must stay silent: score-function estimator with the cost added for the report."""
import torch
from torch import nn
from torch.distributions import Categorical, Normal

torch.manual_seed(4)
logits = nn.Parameter(torch.zeros(6))
mean = nn.Parameter(torch.zeros(2))
opt = torch.optim.Adam([logits, mean], lr=0.05)
for _ in range(60):
    c = Categorical(logits=logits)
    k = c.sample((32,))
    n = Normal(mean, 0.5)
    z = n.sample((32,))
    cost = (k.float() - 3.0).pow(2) + (z - 1.0).pow(2).sum(1)
    score = c.log_prob(k) + n.log_prob(z).sum(1)
    surrogate = ((cost - cost.mean()) * score).mean() + cost.mean()
    opt.zero_grad()
    surrogate.backward()
    opt.step()
print("estimated")
