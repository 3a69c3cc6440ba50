"""Legitimate twin: the running baseline is made of numbers; retain_graph is not needed."""
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(26)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Linear(3, 1)
        self.value = nn.Linear(3, 1)
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, obs):
        return Normal(self.mean(obs), self.log_std.exp()), self.value(obs)


def reward_of(obs, action):
    return -(action - obs.sum(1, keepdim=True)).abs().clamp(max=3.0)


def main():
    agent = Actor()
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-2)
    baseline = torch.zeros(())
    for update in range(40):
        obs = torch.randn(24, 3)
        dist, value = agent(obs)
        action = dist.sample()
        reward = reward_of(obs, action)
        baseline = 0.9 * baseline + 0.1 * value.mean().item()
        advantage = reward - baseline
        loss = -(dist.log_prob(action) * advantage).mean() + nn.functional.mse_loss(value, reward)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 10 == 9:
            print("update", update, "reward", round(reward.mean().item(), 3), "baseline", round(float(baseline), 3))


if __name__ == "__main__":
    main()
