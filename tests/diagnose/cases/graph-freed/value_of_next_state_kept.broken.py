"""the next state's value, already differentiated through as the target, becomes this state's value in the next iteration."""
import torch
from torch import nn

torch.manual_seed(161)


class Walk:
    def __init__(self):
        self.at = 0

    def features(self):
        return torch.eye(7)[self.at]

    def move(self):
        self.at = (self.at + 1) % 7
        return self.features(), float(self.at == 6)


env = Walk()
critic = nn.Sequential(nn.Linear(7, 10), nn.Tanh(), nn.Linear(10, 1))
optimizer = torch.optim.SGD(critic.parameters(), lr=0.05)
value = critic(env.features())
errors = []
for t in range(40):
    following, reward = env.move()
    next_value = critic(following)  # EXPECT-ERROR: graph-freed
    delta = reward + 0.9 * next_value - value
    loss = delta.pow(2).sum()
    optimizer.zero_grad()
    loss.backward()  # ALSO: graph-freed
    optimizer.step()
    value = next_value
    errors.append(delta.abs().item())
print(round(sum(errors[-7:]) / 7, 3))
