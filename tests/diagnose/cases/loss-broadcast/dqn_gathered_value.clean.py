"""Legitimate twin: the gathered column is squeezed before the comparison."""
import random
from collections import deque
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(13)
random.seed(13)
GAMMA = 0.9


class Agent:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
        self.target = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=2e-3)
        self.memory = deque(maxlen=500)

    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(3)
        with torch.no_grad():
            return self.online(state).argmax().item()

    def learn(self, batch_size=32):
        state, action, reward, following = map(torch.stack, zip(*random.sample(self.memory, batch_size)))
        value = self.online(state).gather(1, action.unsqueeze(1))
        with torch.no_grad():
            goal = reward + GAMMA * self.target(following).max(1).values
        loss = F.smooth_l1_loss(value.squeeze(1), goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


agent = Agent()
state = torch.randn(4)
for step in range(150):
    action = agent.act(state, epsilon=0.3)
    reward = 1.0 if action == state[:3].argmax().item() else 0.0
    following = torch.randn(4)
    agent.memory.append((state, torch.tensor(action), torch.tensor(reward), following))
    state = following
    if step >= 64:
        loss = agent.learn()
    if step % 25 == 24:
        agent.target.load_state_dict(agent.online.state_dict())
print("td loss", round(loss, 4))
