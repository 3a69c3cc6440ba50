"""REINFORCE keeps log_prob.item() in its buffer: the policy's loss is a leaf made from numbers, and nothing is learned."""

from dataclasses import dataclass, field

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(2)


@dataclass
class Episode:
    log_probs: list = field(default_factory=list)
    rewards: list = field(default_factory=list)


policy = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)


def play() -> Episode:
    episode = Episode()
    state = torch.randn(4)
    for _ in range(6):
        choice = Categorical(logits=policy(state))
        action = choice.sample()
        episode.log_probs.append(choice.log_prob(action).item())  # ALSO: loss-is-leaf
        episode.rewards.append(1.0 if action.item() == int(state[0] > 0) else -1.0)
        state = torch.randn(4)
    return episode


def policy_loss(episode: Episode) -> torch.Tensor:
    returns = torch.tensor(episode.rewards).flip(0).cumsum(0).flip(0)
    log_probs = torch.tensor(episode.log_probs)
    return -(log_probs * (returns - returns.mean())).sum()


for number in range(20):
    loss = policy_loss(play())
    loss.requires_grad = True  # EXPECT: loss-is-leaf
    optimizer.zero_grad()
    torch.autograd.backward(loss)
    optimizer.step()
print("last loss", loss.item())
