"""policy gradient with a learned baseline that is converted to floats."""
import torch
from torch import nn
from torch.distributions import Bernoulli

torch.manual_seed(18)
policy, value = nn.Linear(3, 1), nn.Linear(3, 1)
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-2)  # MAY: parameter-not-optimized
for _ in range(50):
    s = torch.randn(16, 3)
    d = Bernoulli(logits=policy(s).squeeze(1))
    a = d.sample()
    r = (a == (s[:, 0] > 0).float()).float()
    v = torch.tensor(value(s).squeeze(1).tolist())  # EXPECT: path-cut
    adv = r - v
    loss = -(d.log_prob(a) * adv.detach()).mean() + adv.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("rewarded")
