"""The adversarial part of the loss is backpropagated, then cleared before the step."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(1)


class Agent:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        self.value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.opt = torch.optim.Adam([*self.policy.parameters(), *self.value.parameters()], lr=3e-3)

    def update(self, s, a, r):
        v = self.value(s).squeeze(1)
        adv = (r - v).detach()
        logp = F.log_softmax(self.policy(s), 1).gather(1, a[:, None]).squeeze(1)
        actor = -(logp * adv).mean()
        critic = F.mse_loss(v, r)
        self.opt.zero_grad()
        actor.backward()
        self.opt.zero_grad()  # EXPECT: gradient-discarded
        critic.backward()
        self.opt.step()
        return actor.item(), critic.item()


agent = Agent()
for it in range(30):
    s = torch.randn(64, 4)
    with torch.no_grad():
        a = torch.distributions.Categorical(logits=agent.policy(s)).sample()
    r = (a == (s[:, 0] > 0).long()).float()
    out = agent.update(s, a, r)
print(len(out))
