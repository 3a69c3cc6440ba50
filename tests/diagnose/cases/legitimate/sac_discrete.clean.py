"""Soft actor-critic with two critics, soft targets and a learned temperature."""
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(20)


def q():
    return nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3))


actor, q1, q2 = q(), q(), q()
t1, t2 = copy.deepcopy(q1), copy.deepcopy(q2)
log_alpha = torch.zeros(1, requires_grad=True)
oa = torch.optim.Adam(actor.parameters(), 1e-3)
oq = torch.optim.Adam([*q1.parameters(), *q2.parameters()], 1e-3)
ot = torch.optim.Adam([log_alpha], 1e-3)
for step in range(100):
    s, a, r, s2 = torch.randn(32, 4), torch.randint(3, (32, 1)), torch.randn(32), torch.randn(32, 4)
    with torch.no_grad():
        pi2 = actor(s2).softmax(-1)
        v2 = (pi2 * (torch.min(t1(s2), t2(s2)) - log_alpha.exp() * (pi2 + 1e-8).log())).sum(-1)
        target = r + 0.99 * v2
    lq = F.mse_loss(q1(s).gather(1, a)[:, 0], target) + F.mse_loss(q2(s).gather(1, a)[:, 0], target)
    oq.zero_grad()
    lq.backward()
    oq.step()
    pi = actor(s).softmax(-1)
    logp = (pi + 1e-8).log()
    with torch.no_grad():
        qmin = torch.min(q1(s), q2(s))
    la = (pi * (log_alpha.exp().detach() * logp - qmin)).sum(-1).mean()
    oa.zero_grad()
    la.backward()
    oa.step()
    entropy = -(pi.detach() * logp.detach()).sum(-1)
    lt = (log_alpha.exp() * (entropy - 0.8)).mean()
    ot.zero_grad()
    lt.backward()
    ot.step()
    with torch.no_grad():
        for q_, t_ in ((q1, t1), (q2, t2)):
            for p, tp in zip(q_.parameters(), t_.parameters()):
                tp.data.mul_(0.995).add_(0.005 * p.data)
print(round(log_alpha.exp().item(), 2) > 0)
