"""act() samples under no_grad; the log-probabilities are computed anew when learning."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(182)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.logits = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, state):
        return Categorical(logits=self.logits(state))


@torch.no_grad()
def act(policy, state):
    choice = policy(state)
    action = choice.sample()
    return action, choice.log_prob(action)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
for episode in range(4):
    states, actions, log_probs, rewards = [], [], [], []
    for _ in range(12):
        state = torch.rand(3)
        action, log_prob = act(policy, state)
        states.append(state)
        actions.append(action)
        log_probs.append(log_prob)
        rewards.append(float(action.item() == 2))
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    loss = -(policy(torch.stack(states)).log_prob(torch.stack(actions)) * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("return", sum(rewards))
