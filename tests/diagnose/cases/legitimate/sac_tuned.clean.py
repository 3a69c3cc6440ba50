"""Soft actor-critic: two critics, a target, a learned temperature as log_alpha; alpha is detached in the other losses."""
import copy
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 32), nn.ReLU(), nn.Linear(32, o))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(3, 2)

    def forward(self, s):
        mu, log_std = self.net(s).chunk(2, -1)
        std = log_std.clamp(-5, 2).exp()
        u = mu + std * torch.randn_like(mu)
        a = torch.tanh(u)
        logp = torch.distributions.Normal(mu, std).log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)
        return a, logp.sum(-1, keepdim=True)


actor, q1, q2 = Actor(), mlp(4, 1), mlp(4, 1)
t1, t2 = copy.deepcopy(q1).requires_grad_(False), copy.deepcopy(q2).requires_grad_(False)
log_alpha = torch.zeros(1, requires_grad=True)
oa, oq, ot = torch.optim.Adam(actor.parameters(), 1e-3), torch.optim.Adam([*q1.parameters(), *q2.parameters()], 1e-3), torch.optim.Adam([log_alpha], 1e-3)
for it in range(120):
    s, a = torch.randn(32, 3), torch.rand(32, 1) * 2 - 1
    s2 = 0.9 * s + 0.1 * torch.cat([a, a, a], 1)
    r = -s2.square().sum(1, keepdim=True)
    with torch.no_grad():
        a2, lp2 = actor(s2)
        x2 = torch.cat([s2, a2], 1)
        target = r + 0.95 * (torch.min(t1(x2), t2(x2)) - log_alpha.exp() * lp2)
    x = torch.cat([s, a], 1)
    qloss = F.mse_loss(q1(x), target) + F.mse_loss(q2(x), target)
    oq.zero_grad()
    qloss.backward()
    oq.step()
    for p in (*q1.parameters(), *q2.parameters()):
        p.requires_grad = False
    an, lp = actor(s)
    xn = torch.cat([s, an], 1)
    aloss = (log_alpha.exp().detach() * lp - torch.min(q1(xn), q2(xn))).mean()
    oa.zero_grad()
    aloss.backward()
    oa.step()
    for p in (*q1.parameters(), *q2.parameters()):
        p.requires_grad = True
    tloss = -(log_alpha * (lp + 1.0).detach()).mean()
    ot.zero_grad()
    tloss.backward()
    ot.step()
    with torch.no_grad():
        for net, tgt in ((q1, t1), (q2, t2)):
            for p, q in zip(net.parameters(), tgt.parameters()):
                q.data.mul_(0.99)
                q.data.add_(0.01 * p.data)
print(f"{qloss.item():.3f} {log_alpha.exp().item():.3f}")
