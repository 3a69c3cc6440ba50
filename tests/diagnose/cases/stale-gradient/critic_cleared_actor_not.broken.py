"""actor-critic with two optimizers, of which a copy-paste clears one twice and the other never."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)
actor = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3))
critic = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))
opt_a = torch.optim.RMSprop(actor.parameters(), lr=1e-3)
opt_c = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
for it in range(40):
    s = torch.randn(32, 4)
    a = torch.randint(3, (32,))
    r = (a == (s[:, 0] > 0).long()).float()
    v = critic(s).squeeze(1)
    advantage = (r - v).detach()
    logp = F.log_softmax(actor(s), -1).gather(1, a[:, None]).squeeze(1)
    opt_c.zero_grad()
    F.mse_loss(v, r).backward()
    opt_c.step()
    opt_c.zero_grad()
    (-(logp * advantage).mean()).backward()  # ALSO: stale-gradient
    opt_a.step()  # EXPECT: stale-gradient
print(float(r.mean()))
