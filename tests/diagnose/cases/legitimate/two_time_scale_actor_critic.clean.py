"""the critic steps five times for each step of the actor, each from its own optimizer."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(101)
actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
oa, oc = torch.optim.SGD(actor.parameters(), lr=1e-2), torch.optim.SGD(critic.parameters(), lr=5e-2)
for it in range(60):
    s = torch.randn(16, 3)
    dist = torch.distributions.Categorical(logits=actor(s))
    a = dist.sample()
    r = (a == (s[:, 0] > 0)).float()
    oc.zero_grad()
    F.mse_loss(critic(s).squeeze(1), r).backward()
    oc.step()
    if it % 5 == 4:
        oa.zero_grad()
        with torch.no_grad():
            adv = r - critic(s).squeeze(1)
        (-(dist.log_prob(a) * adv).mean()).backward()
        oa.step()
print("end")
