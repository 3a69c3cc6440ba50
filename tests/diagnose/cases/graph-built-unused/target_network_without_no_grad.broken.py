"""a DQN's target values come from an eval-mode target network and are detached only at the end of the formula."""
import copy

import torch
from torch import nn

torch.manual_seed(39)


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.LayerNorm(32))
        self.q = nn.Linear(32, 2)

    def forward(self, state):
        return self.q(self.body(state))


online = QNet()
target = copy.deepcopy(online).eval()
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)


def td_target(reward, following, gamma=0.9):
    best = target(following).max(1).values  # EXPECT: graph-built-unused
    return reward + gamma * best.detach()


states = torch.randn(400, 4)
actions = torch.randint(0, 2, (400,))
rewards = ((states[:, 0] > 0).long() == actions).float()
for step in range(60):
    idx = torch.randint(0, 399, (32,))
    q = online(states[idx]).gather(1, actions[idx].unsqueeze(1)).squeeze(1)
    loss = nn.functional.smooth_l1_loss(q, td_target(rewards[idx], states[idx + 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        target.load_state_dict(online.state_dict())
        print("step", step, "loss", round(loss.item(), 4))
