"""REINFORCE: the terms of the loss are numbers, negated in a comprehension, and wrapped again before backward()."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(7)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def episode(length=12):
    state = torch.randn(4)
    logps, rewards = [], []
    for _ in range(length):
        dist = Categorical(logits=policy(state))
        a = dist.sample()
        logps.append(dist.log_prob(a))
        rewards.append(1.0 if (state[0] > 0) == bool(a) else -1.0)
        state = 0.5 * state + torch.randn(4)
    return logps, rewards


for it in range(40):
    logps, rewards = episode()
    returns, g = [], 0.0
    for r in reversed(rewards):
        g = r + 0.9 * g
        returns.insert(0, g)
    terms = [-(lp * r).item() for lp, r in zip(logps, returns)]  # EXPECT: path-cut
    loss = torch.tensor(terms, requires_grad=True).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(sum(rewards))
