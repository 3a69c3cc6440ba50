"""DDPG: actor's loss goes through the critic, whose gradients from it are cleared at its own next step."""
import copy
import random
from collections import deque

import torch
from torch import nn

torch.manual_seed(17)
random.seed(17)
actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
actor_t, critic_t = copy.deepcopy(actor), copy.deepcopy(critic)
oa, oc = torch.optim.Adam(actor.parameters(), 1e-3), torch.optim.Adam(critic.parameters(), 2e-3)
memory = deque(maxlen=500)
state = torch.randn(3)
for step in range(260):
    with torch.no_grad():
        action = (actor(state) + 0.1 * torch.randn(1)).clamp(-1, 1)
    nxt = 0.9 * state + torch.cat([action, torch.zeros(2)])
    memory.append((state, action, -nxt.square().sum(), nxt))
    state = nxt if step % 20 else torch.randn(3)
    if len(memory) < 32:
        continue
    s, a, r, n = map(torch.stack, zip(*random.sample(memory, 16)))
    with torch.no_grad():
        target = r[:, None] + 0.9 * critic_t(torch.cat([n, actor_t(n)], 1))
    closs = nn.functional.smooth_l1_loss(critic(torch.cat([s, a], 1)), target)
    oc.zero_grad()
    closs.backward()
    oc.step()
    aloss = -critic(torch.cat([s, actor(s)], 1)).mean()
    oa.zero_grad()
    aloss.backward()
    oa.step()
    with torch.no_grad():
        for net, tgt in ((actor, actor_t), (critic, critic_t)):
            for p, q in zip(net.parameters(), tgt.parameters()):
                q.lerp_(p, 0.01)
print(f"{closs.item():.3f} {aloss.item():.3f}")
