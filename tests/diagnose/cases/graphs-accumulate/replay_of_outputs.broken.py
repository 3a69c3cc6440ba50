"""Log-probabilities of old episodes are kept in the statistics."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(34)
policy = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 3))
opt = torch.optim.Adam(policy.parameters(), 1e-2)
stats = {"entropy": [], "return": []}


def episode(length):
    logps, rewards = [], []
    s = torch.randn(4)
    for _ in range(length):
        d = Categorical(logits=policy(s))
        a = d.sample()
        logps.append(d.log_prob(a))
        rewards.append(float(a == 0))
        s = 0.9 * s + 0.1 * torch.randn(4)
    stats["entropy"].append(d.entropy())  # EXPECT: graphs-accumulate
    stats["return"].append(sum(rewards))
    return torch.stack(logps), torch.tensor(rewards)


for e in range(30):
    lp, r = episode(8)
    loss = -(lp * (r.flip(0).cumsum(0).flip(0) - 3)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(stats["return"]))
