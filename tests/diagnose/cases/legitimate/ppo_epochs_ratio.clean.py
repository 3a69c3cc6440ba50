"""Must stay silent: ppo epochs ratio."""
import torch
from torch import nn
from torch.distributions import Categorical
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
pi, v = nn.Linear(32, 3), nn.Linear(32, 1)
opt = torch.optim.Adam([*net.parameters(), *pi.parameters(), *v.parameters()], 3e-3)
for it in range(8):
    s = torch.randn(64, 4)
    with torch.no_grad():
        h = net(s)
        d = Categorical(logits=pi(h))
        a = d.sample()
        old = d.log_prob(a)
        ret = (a == 1).float() + s[:, 0]
        adv = ret - v(h).squeeze(-1)
    for _ in range(4):
        for idx in torch.randperm(64).split(16):
            h = net(s[idx])
            d = Categorical(logits=pi(h))
            ratio = (d.log_prob(a[idx]) - old[idx]).exp()
            s1 = ratio * adv[idx]
            s2 = ratio.clamp(0.8, 1.2) * adv[idx]
            loss = -torch.min(s1, s2).mean() + 0.5 * (v(h).squeeze(-1) - ret[idx]).pow(2).mean() - 0.01 * d.entropy().mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([p for g in opt.param_groups for p in g["params"]], 0.5)
            opt.step()
print("ppo")
