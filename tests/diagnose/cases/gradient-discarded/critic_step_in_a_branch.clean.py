"""the critic's step sits in a branch that is taken on every second update, and its gradients accumulate in between."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(113)


@dataclass
class Config:
    updates: int = 24
    gamma: float = 0.95
    train_critic: bool = True


class Agent:
    def __init__(self, config: Config):
        self.config = config
        self.actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
        self.critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-2)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-2)

    def update(self, number, state, reward):
        value = self.critic(state).squeeze(1)
        chosen = Categorical(logits=self.actor(state))
        advantage = reward - value.detach()
        actor_loss = -(chosen.log_prob(chosen.sample()) * advantage).mean()
        critic_loss = (reward - value).pow(2).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
        critic_loss.backward()
        if self.config.train_critic and number % 2:
            self.critic_opt.step()
            self.critic_opt.zero_grad()
        return critic_loss.item()


agent = Agent(Config())
for number in range(agent.config.updates):
    state = torch.randn(32, 4)
    loss = agent.update(number, state, state[:, 0])
print("critic", round(loss, 4))
