"""Legitimate twin: both losses are differentiated before either optimizer moves the weights."""
import torch
from torch import nn

torch.manual_seed(24)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 16)
        self.value = nn.Linear(16, 1)

    def forward(self, state, action):
        return self.value(torch.tanh(self.hidden(torch.cat([state, action], 1))))


actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
critic = Critic()
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)


def update(state):
    action = actor(state)
    reward = -(action.detach() - state.mean(1, keepdim=True)).abs()
    critic_loss = nn.functional.mse_loss(critic(state, action.detach()), reward)
    actor_loss = -critic(state, action).mean()
    critic_opt.zero_grad()
    actor_opt.zero_grad()
    critic_loss.backward()
    actor_loss.backward(inputs=list(actor.parameters()))
    critic_opt.step()
    actor_opt.step()
    return critic_loss.item(), actor_loss.item()


for it in range(50):
    losses = update(torch.randn(32, 3))
print("critic %.4f actor %.4f" % losses)
