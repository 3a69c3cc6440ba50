"""deep Q-learning clears the target network, whose gradients are always None, instead of the one that learns."""
import copy
import random
import torch
from torch import nn

torch.manual_seed(7)
random.seed(7)


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 24), nn.ELU(), nn.Linear(24, 2))

    def forward(self, state):
        return self.layers(state)


policy = QNet()
target = copy.deepcopy(policy)
optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)
replay = []
for _ in range(200):
    s = torch.randn(4)
    a = random.randrange(2)
    replay.append((s, a, float(s[a] > 0), s + 0.1 * torch.randn(4)))


def learn(batch, gamma=0.9):
    s, a, r, s2 = zip(*batch)
    chosen = policy(torch.stack(s)).gather(1, torch.tensor(a).unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best = target(torch.stack(s2)).max(1).values
    loss = nn.functional.smooth_l1_loss(chosen, torch.tensor(r) + gamma * best)  # MAY: gradient-spikes
    target.zero_grad()
    loss.backward()  # ALSO: stale-gradient
    optimizer.step()  # EXPECT: stale-gradient
    return loss.item()


for step in range(60):
    loss = learn(random.sample(replay, 16))
    if step % 20 == 19:
        target.load_state_dict(policy.state_dict())
        print(step, "td loss", round(loss, 4))
