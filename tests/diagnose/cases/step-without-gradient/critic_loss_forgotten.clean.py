"""Legitimate twin: actor and critic take turns; both step() every time, each has gradients every second time."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(51)

actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 3))
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-2)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)


def play(states):
    policy = Categorical(logits=actor(states))
    action = policy.sample()
    reward = (action == states.argmax(1)).float()
    return policy.log_prob(action), reward


for episode in range(60):
    states = torch.randn(32, 3)
    log_prob, reward = play(states)
    value = critic(states).squeeze(1)
    advantage = reward - value
    actor_loss = -(log_prob * advantage.detach()).mean()
    critic_loss = advantage.pow(2).mean()
    actor_opt.zero_grad()
    critic_opt.zero_grad()
    if episode % 2 == 0:
        actor_loss.backward()
    else:
        critic_loss.backward()
    actor_opt.step()
    critic_opt.step()
    if episode % 15 == 0:
        print(f"reward {reward.mean().item():.3f} critic loss {critic_loss.item():.4f}")
