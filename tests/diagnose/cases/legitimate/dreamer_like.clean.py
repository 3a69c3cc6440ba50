"""A world model and a policy trained in turns: the policy's gradients flow through the frozen model."""
import torch
import torch.nn as nn

torch.manual_seed(19)
world = nn.Sequential(nn.Linear(5, 32), nn.ELU(), nn.Linear(32, 4))
policy = nn.Sequential(nn.Linear(4, 16), nn.ELU(), nn.Linear(16, 1), nn.Tanh())
wo, po = torch.optim.Adam(world.parameters(), 3e-3), torch.optim.Adam(policy.parameters(), 3e-3)
A = torch.eye(4) * 0.9
for it in range(40):
    s = torch.randn(32, 4)
    with torch.no_grad():
        a = policy(s) + 0.3 * torch.randn(32, 1)
        nxt = s @ A
        nxt[:, :1] += 0.5 * a
    loss = (world(torch.cat([s, a], 1)) - nxt).pow(2).mean()
    wo.zero_grad()
    loss.backward()
    wo.step()
    for p in world.parameters():
        p.requires_grad_(False)
    z, ret = torch.randn(32, 4), 0.0
    for t in range(4):
        z = world(torch.cat([z, policy(z)], 1))
        ret = ret - z[:, 0].pow(2).mean() * 0.95**t
    po.zero_grad()
    (-ret).backward()
    po.step()
    for p in world.parameters():
        p.requires_grad_(True)
print(round(loss.item(), 2) >= 0)
