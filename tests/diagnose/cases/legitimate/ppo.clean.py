"""Must stay silent: PPO; old log-probabilities are constants, several epochs over one batch, clipped ratio."""
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(134)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.Tanh())
        self.mean, self.value = nn.Linear(32, 1), nn.Linear(32, 1)
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, state):
        h = self.body(state)
        return Normal(self.mean(h).squeeze(-1), self.log_std.exp()), self.value(h).squeeze(-1)


model = Policy()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for iteration in range(8):
    states = torch.randn(64, 3)
    with torch.no_grad():
        dist, values = model(states)
        actions = dist.sample()
        old_log_prob = dist.log_prob(actions)
        rewards = -(actions - states[:, 0]).pow(2)
        advantage = rewards - values
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for epoch in range(3):
        for rows in torch.randperm(64).split(16):
            dist, value = model(states[rows])
            ratio = (dist.log_prob(actions[rows]) - old_log_prob[rows]).exp()
            clipped = ratio.clamp(0.8, 1.2)
            actor = -torch.min(ratio * advantage[rows], clipped * advantage[rows]).mean()
            loss = actor + 0.5 * (value - rewards[rows]).pow(2).mean() - 0.01 * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
    print(iteration, "reward", round(rewards.mean().item(), 4))
