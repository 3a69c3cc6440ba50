"""The entropy bonus uses xlogy, which is 0 at probability 0."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(21)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 20), nn.Tanh())
        self.actions = nn.Linear(20, 5)

    def forward(self, state, allowed):
        scores = self.actions(self.body(state))
        return F.softmax(scores.masked_fill(~allowed, float("-inf")), dim=1)


def entropy(probs):
    return -torch.special.xlogy(probs, probs.clamp(min=1e-30)).sum(1).mean()


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for update in range(12):
    state = torch.randn(16, 6)
    allowed = torch.rand(16, 5) < 0.6
    allowed[:, 0] = True
    probs = policy(state, allowed)
    action = torch.multinomial(probs.detach().nan_to_num(0.2) + 1e-9, 1)
    advantage = torch.randn(16, 1)
    chosen = probs.gather(1, action).clamp(min=1e-8).log()
    loss = -(chosen * advantage).mean() - 0.01 * entropy(probs)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
    optimizer.step()
print("loss", loss.item())
