"""Must stay silent: log-probabilities with their graphs are kept for several episodes and consumed by one backward."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(131)


class Agent:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 3))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=5e-3)
        self.log_probs, self.returns = [], []

    def play(self, length=5):
        rewards = []
        for _ in range(length):
            state = torch.randn(3)
            dist = Categorical(logits=self.policy(state))
            action = dist.sample()
            self.log_probs.append(dist.log_prob(action))
            rewards.append(float(action.item() == state.argmax().item()))
        running = 0.0
        discounted = []
        for reward in reversed(rewards):
            running = reward + 0.9 * running
            discounted.append(running)
        self.returns.extend(reversed(discounted))
        return sum(rewards)

    def learn(self):
        returns = torch.tensor(self.returns)
        advantage = (returns - returns.mean()) / (returns.std() + 1e-8)
        loss = -(torch.stack(self.log_probs) * advantage).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.log_probs.clear()
        self.returns.clear()


agent = Agent()
for update in range(20):
    score = sum(agent.play() for _ in range(6))
    agent.learn()
    if update % 5 == 4:
        print(update, "score", score)
