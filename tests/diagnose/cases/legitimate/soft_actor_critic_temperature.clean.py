"""Must stay silent: SAC-like temperature; three optimizers, a scalar parameter of its own, target network by polyak."""
import copy
import torch
from torch import nn
import torch.nn.functional as F
from torch.distributions import Normal

torch.manual_seed(186)
actor = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 2))
critic = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))
target = copy.deepcopy(critic).requires_grad_(False)
log_alpha = torch.zeros(1, requires_grad=True)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-3)
alpha_opt = torch.optim.Adam([log_alpha], lr=1e-2)


def sample(state):
    mean, log_std = actor(state).chunk(2, dim=1)
    dist = Normal(mean, log_std.clamp(-3, 1).exp())
    action = dist.rsample()
    return action, dist.log_prob(action)


for step in range(50):
    state, following = torch.randn(32, 3), torch.randn(32, 3)
    with torch.no_grad():
        action, _ = sample(state)
        reward = -(action - state[:, :1]).pow(2)
        next_action, next_log_prob = sample(following)
        backup = target(torch.cat([following, next_action], 1)) - log_alpha.exp() * next_log_prob
        goal = reward + 0.5 * backup
    critic_loss = F.mse_loss(critic(torch.cat([state, action], 1)), goal)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    action, log_prob = sample(state)
    actor_loss = (log_alpha.exp().detach() * log_prob - critic(torch.cat([state, action], 1))).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()

    alpha_loss = -(log_alpha.exp() * (log_prob.detach() - 1.0)).mean()
    alpha_opt.zero_grad()
    alpha_loss.backward()
    alpha_opt.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), critic.parameters()):
            slow.lerp_(fast, 0.05)
print(round(critic_loss.item(), 4), round(actor_loss.item(), 4), "alpha", round(log_alpha.exp().item(), 4))
