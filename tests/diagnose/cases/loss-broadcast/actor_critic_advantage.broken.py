"""returns (T,) minus the critic's values (T, 1) makes a (T, T) table of advantages."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(15)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 32), nn.Tanh())
        self.actor = nn.Linear(32, 2)
        self.critic = nn.Linear(32, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.actor(h)), self.critic(h)


def discounted(rewards, gamma=0.8):
    out, running = [], 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        out.append(running)
    return torch.tensor(out[::-1])


model = ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for episode in range(60):
    obs = torch.randn(10, 5)
    dist, values = model(obs)
    actions = dist.sample()
    rewards = [1.0 if bool(a) == bool(o[0] > 0) else 0.0 for a, o in zip(actions, obs)]
    returns = discounted(rewards)
    advantage = returns - values  # EXPECT: loss-broadcast
    critic_loss = advantage.pow(2).mean()
    actor_loss = -(dist.log_prob(actions) * advantage.detach()).mean()
    loss = actor_loss + 0.5 * critic_loss - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if episode % 20 == 19:
        print(episode, "reward", sum(rewards), "loss", round(loss.item(), 4))
