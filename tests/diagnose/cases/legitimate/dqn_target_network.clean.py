"""Must stay silent: DQN; replay memory of detached transitions, hard copies of the weights into the target network."""
import random
from collections import deque
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(133)
random.seed(133)


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.ReLU())
        self.value, self.advantage = nn.Linear(32, 1), nn.Linear(32, 3)

    def forward(self, state):
        h = self.body(state)
        advantage = self.advantage(h)
        return self.value(h) + advantage - advantage.mean(1, keepdim=True)


policy_net, target_net = QNetwork(), QNetwork()
target_net.load_state_dict(policy_net.state_dict())
target_net.eval()
optimizer = torch.optim.AdamW(policy_net.parameters(), lr=2e-3, amsgrad=True)
memory = deque(maxlen=300)
state = torch.randn(1, 4)
for step in range(120):
    with torch.no_grad():
        greedy = policy_net(state).argmax(1).item()
    action = random.randrange(3) if random.random() < 0.3 else greedy
    reward = float(action == state[0, :3].argmax().item())
    following = torch.randn(1, 4)
    memory.append((state, action, reward, following))
    state = following
    if len(memory) < 40:
        continue
    states, actions, rewards, followings = zip(*random.sample(memory, 24))
    q = policy_net(torch.cat(states)).gather(1, torch.tensor(actions).unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        expected = torch.tensor(rewards) + 0.5 * target_net(torch.cat(followings)).amax(1)
    loss = F.smooth_l1_loss(q, expected)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    if step % 20 == 0:
        target_net.load_state_dict(policy_net.state_dict())
print("loss", round(loss.item(), 4))
