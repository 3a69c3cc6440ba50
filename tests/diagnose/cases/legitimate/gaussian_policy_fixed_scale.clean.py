"""a Gaussian policy whose scale is a number: its log-probability has a constant term."""
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(306)
policy = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.RMSprop(policy.parameters(), lr=5e-3)
for episode in range(20):
    log_probs, rewards = [], []
    for _ in range(6):
        state = torch.randn(3)
        choice = Normal(policy(state), 0.5)
        action = choice.sample()
        log_probs.append(choice.log_prob(action).sum())
        rewards.append(-float((action - state[0]) ** 2))
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.stack(log_probs) * (returns - returns.mean())).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(sum(rewards), 3))
