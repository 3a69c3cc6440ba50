"""Must stay silent: actor and critic with separate optimizers; the actor's loss passes through the critic."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(132)
actor = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-3)
for step in range(60):
    state = torch.randn(32, 3)
    with torch.no_grad():
        action = (actor(state) + 0.3 * torch.randn(32, 2)).clamp(-1, 1)
    reward = -(action - state[:, :2].tanh()).pow(2).sum(1, keepdim=True)

    critic_loss = F.mse_loss(critic(torch.cat([state, action], dim=1)), reward)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    actor_loss = -critic(torch.cat([state, actor(state)], dim=1)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    if step % 20 == 19:
        print(step, round(critic_loss.item(), 4), round(actor_loss.item(), 4))
