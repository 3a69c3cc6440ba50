"""Legitimate twin: the same policy gradient with .sum() over the episode."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(8)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 24)
        self.action = nn.Linear(24, 2)

    def forward(self, state):
        return self.action(torch.tanh(self.hidden(state)))


class Agent:
    def __init__(self):
        self.policy = Policy()
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-2)

    def learn(self, states, rewards_for):
        dist = Categorical(logits=self.policy(states))
        actions = dist.sample()
        reward = rewards_for(states, actions)
        advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
        loss = (-dist.log_prob(actions) * advantage).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return reward.mean().item()


def reward(states, actions):
    return ((states[:, 0] > 0).long() == actions).float()


agent = Agent()
history = [agent.learn(torch.randn(20, 4), reward) for episode in range(60)]
print("first", history[0], "last", sum(history[-5:]) / 5)
