"""the optimizer was given the policy and the critic."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(25)
policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)


def losses(states):
    choice = Categorical(logits=policy(states))
    action = choice.sample()
    reward = (action == (states[:, 0] > 0).long()).float()
    value = critic(states).squeeze(1)
    advantage = reward - value.detach()
    return -(choice.log_prob(action) * advantage).mean(), (value - reward).pow(2).mean(), choice.entropy().mean()


for iteration in range(50):
    actor_loss, critic_loss, entropy = losses(torch.randn(32, 3))
    loss = actor_loss + 0.5 * critic_loss - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{actor_loss.item():.3f} {critic_loss.item():.3f}")
