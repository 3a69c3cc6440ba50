"""Must stay silent: dqn eps target."""
import copy, random
import torch
from torch import nn
random.seed(0)
torch.manual_seed(10)
q = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 2))
target = copy.deepcopy(q)
opt = torch.optim.RMSprop(q.parameters(), 1e-3)
memory = []
s = torch.randn(3)
for t in range(160):
    a = random.randrange(2) if random.random() < 0.2 else q(s).argmax().item()
    s2 = 0.9 * s + 0.1 * torch.randn(3) + (0.1 if a else -0.1)
    memory.append((s, a, float(-s2.abs().sum()), s2))
    s = s2
    if t > 40 and t % 2 == 0:
        batch = random.sample(memory, 16)
        S, A, R, S2 = zip(*batch)
        S, S2, A, R = torch.stack(S), torch.stack(S2), torch.tensor(A), torch.tensor(R)
        now = q(S).gather(1, A[:, None]).squeeze(1)
        with torch.no_grad():
            goal = R + 0.9 * target(S2).max(1)[0]
        loss = nn.functional.smooth_l1_loss(now, goal)
        opt.zero_grad()
        loss.backward()
        for p in q.parameters():
            p.grad.data.clamp_(-1, 1)
        opt.step()
    if t % 40 == 39:
        target.load_state_dict(q.state_dict())
print("dqn")
