"""the critic's gradients are computed and cleared each update, but its step sits in a branch that is never taken."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(113)


@dataclass
class Config:
    updates: int = 24
    gamma: float = 0.95
    train_critic: bool = False


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
        self.critic_opt.zero_grad()  # EXPECT: gradient-discarded
        critic_loss.backward()  # ALSO: gradient-discarded
        if self.config.train_critic:
            self.critic_opt.step()
        return critic_loss.item()


agent = Agent(Config())
for number in range(agent.config.updates):
    state = torch.randn(32, 4)
    loss = agent.update(number, state, state[:, 0])
print("critic", round(loss, 4))
