"""A distributional Q-learning step: quantile regression over all pairs of quantiles."""
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(18)
N = 8
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2 * N))
target = copy.deepcopy(net)
opt = torch.optim.Adam(net.parameters(), 1e-3)
tau = (torch.arange(N) + 0.5) / N
for step in range(80):
    s, a, r, s2 = torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16), torch.randn(16, 4)
    q = net(s).view(16, 2, N)[torch.arange(16), a]
    with torch.no_grad():
        nxt = target(s2).view(16, 2, N)
        best = nxt.mean(-1).argmax(-1)
        goal = r[:, None] + 0.9 * nxt[torch.arange(16), best]
    diff = goal[:, None, :] - q[:, :, None]
    huber = F.huber_loss(q[:, :, None].expand(-1, -1, N), goal[:, None, :].expand(-1, N, -1), reduction="none")
    loss = ((tau[None, :, None] - (diff.detach() < 0).float()).abs() * huber).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 19:
        target.load_state_dict(net.state_dict())
print(round(loss.item(), 2) >= 0)
