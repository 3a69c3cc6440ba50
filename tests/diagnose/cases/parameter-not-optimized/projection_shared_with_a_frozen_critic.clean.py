"""The critic is trained first, with a projection of its own, and then frozen."""
import torch
from torch import nn

torch.manual_seed(151)


class Head(nn.Module):
    def __init__(self, projection, outputs):
        super().__init__()
        self.projection = projection
        self.hidden, self.out = nn.Linear(10, 16), nn.Linear(16, outputs)

    def forward(self, s):
        return self.out(torch.tanh(self.hidden(self.projection(s))))


projection = nn.Linear(6, 10)
actor = Head(projection, 3)
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-3)
critic = Head(nn.Linear(6, 10), 1)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-3)
for _ in range(50):
    s = torch.randn(32, 6)
    critic_opt.zero_grad()
    loss = (critic(s)[:, 0] - s[:, :2].sum(1)).square().mean()
    loss.backward()
    critic_opt.step()
for p in critic.parameters():
    p.requires_grad = False
for step in range(80):
    s = torch.randn(32, 6)
    logp = actor(s).log_softmax(1)
    advantage = s[:, :3] - critic(s)
    loss = -(logp.exp() * advantage).sum(1).mean() + 0.01 * (logp.exp() * logp).sum(1).mean()
    actor_opt.zero_grad()
    loss.backward()
    actor_opt.step()
print("done")
