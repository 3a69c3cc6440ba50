"""PPO-like updates: several epochs over a rollout."""
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(35)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
        self.logstd = nn.Parameter(torch.zeros(1))
        self.value = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))

    def dist(self, s):
        return Normal(self.mean(s), self.logstd.exp())


agent = Agent()
opt = torch.optim.Adam(agent.parameters(), lr=3e-4)
for rollout in range(10):
    with torch.no_grad():
        s = torch.randn(64, 3)
        d = agent.dist(s)
        a = d.sample()
        old = d.log_prob(a)
        r = -(a - s[:, :1]) ** 2
        adv = r - agent.value(s)
    for _ in range(4):
        for idx in torch.randperm(64).split(16):
            ratio = (agent.dist(s[idx]).log_prob(a[idx]) - old[idx]).exp()
            clipped = ratio.clamp(0.8, 1.2)
            pi = -torch.min(ratio * adv[idx], clipped * adv[idx]).mean()
            v = (agent.value(s[idx]) - r[idx]).pow(2).mean()
            opt.zero_grad()
            (pi + 0.5 * v).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            opt.step()
print("rollouts", rollout + 1)
