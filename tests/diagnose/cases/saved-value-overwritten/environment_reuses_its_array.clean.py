"""the agent copies the environment's array, so later writes do no harm."""
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(153)


class Drift:
    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.state = self.rng.normal(size=3).astype(np.float32)

    def step(self, action):
        self.state *= 0.9
        reward = -float((self.state**2).sum()) - 0.01 * action**2
        return self.state, reward


policy = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(5):
    env = Drift()
    observation, log_probs, rewards = env.state, [], []
    for _ in range(6):
        seen = torch.tensor(observation)
        choice = Normal(policy(seen), 0.5)
        action = choice.sample()
        log_probs.append(choice.log_prob(action).sum())
        observation, reward = env.step(action.item())
        rewards.append(reward)
    loss = -torch.stack(log_probs).sum() * sum(rewards)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("return", round(sum(rewards), 3))
