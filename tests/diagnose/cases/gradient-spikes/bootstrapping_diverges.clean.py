"""Q-learning with a target network and gamma below 1."""
import copy

import torch
from torch import nn

torch.manual_seed(232)


class Chain:
    """States on a line, two actions, a reward at the right end."""

    size = 8

    def sample(self, count):
        state = torch.randint(0, self.size, (count,))
        action = torch.randint(0, 2, (count,))
        following = (state + 2 * action - 1).clamp(0, self.size - 1)
        reward = (following == self.size - 1).float()
        return self.code(state), action, reward, self.code(following)

    def code(self, state):
        return nn.functional.one_hot(state, self.size).float() + 0.5


env = Chain()
q = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 2))
target = copy.deepcopy(q).requires_grad_(False)
gamma = 0.9
optimizer = torch.optim.SGD(q.parameters(), lr=0.02)
for step in range(39):
    state, action, reward, following = env.sample(32)
    with torch.no_grad():
        wanted = reward + gamma * target(following).max(1).values
    chosen = q(state).gather(1, action[:, None]).squeeze(1)
    loss = (chosen - wanted).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        target.load_state_dict(q.state_dict())
print(loss.item() < float("inf"))
