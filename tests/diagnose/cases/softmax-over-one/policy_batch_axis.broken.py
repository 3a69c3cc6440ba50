"""The policy's softmax runs over axis 0, but states arrive with a batch axis of one: each action gets probability 1."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(5)


class Policy(nn.Module):
    def __init__(self, n_obs=4, n_actions=3):
        super().__init__()
        self.fc = nn.Linear(n_obs, 32)
        self.head = nn.Linear(32, n_actions)

    def forward(self, obs):
        logits = self.head(torch.tanh(self.fc(obs)))
        return torch.softmax(logits, dim=0)  # EXPECT: softmax-over-one


def play_episode(policy, length=8):
    log_probs, rewards = [], []
    for _ in range(length):
        obs = torch.randn(4)
        probs = policy(obs.unsqueeze(0))
        dist = Categorical(probs)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(1.0 if action.item() == obs[:3].argmax().item() else 0.0)
    return torch.cat(log_probs), torch.tensor(rewards)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
for episode in range(60):
    log_probs, rewards = play_episode(policy)
    returns = rewards.flip(0).cumsum(0).flip(0)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = -(log_probs * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if episode % 20 == 19:
        print("episode", episode, "reward", rewards.sum().item())
