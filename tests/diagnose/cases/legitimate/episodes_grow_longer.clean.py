"""Must stay silent: the critic learns at every move, the actor from the whole episode at its end; episodes grow longer and longer."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(56)
actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
actor_optimizer = torch.optim.SGD(actor.parameters(), lr=0.01)
critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.01)
for episode in range(12):
    log_probs, rewards = [], []
    for state in torch.randn(3 + 2 * episode, 3):
        dist = Categorical(logits=actor(state))
        action = dist.sample()
        rewards.append(float(action.item() == int(state[0] > 0)))
        log_probs.append(dist.log_prob(action))
        critic_optimizer.zero_grad()
        (critic(state) - rewards[-1]).pow(2).sum().backward()
        critic_optimizer.step()
    actor_optimizer.zero_grad()
    (-torch.stack(log_probs) * (torch.tensor(rewards) - 0.5)).sum().backward()
    actor_optimizer.step()
print("reward", sum(rewards) / len(rewards))
