"""Legitimate twin: the action stays attached in the actor's loss."""
import torch
from torch import nn

torch.manual_seed(5)
actor = nn.Sequential(nn.Linear(4, 20), nn.ELU(), nn.Linear(20, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(6, 20), nn.ELU(), nn.Linear(20, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=2e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=2e-3)


def explore(states):
    with torch.no_grad():
        return (actor(states) + 0.2 * torch.randn(len(states), 2)).clamp(-1, 1)


def learn(states):
    actions = explore(states)
    rewards = -(actions - states[:, :2]).abs().sum(1, keepdim=True)
    critic_loss = nn.functional.smooth_l1_loss(critic(torch.cat([states, actions], 1)), rewards)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    plan = actor(states)
    value = critic(torch.cat([states, plan], 1)).mean()
    actor_optimizer.zero_grad()
    (-value).backward()
    actor_optimizer.step()
    return value.item()


for turn in range(50):
    value = learn(torch.rand(24, 4) * 2 - 1)
print("value", round(value, 4))
