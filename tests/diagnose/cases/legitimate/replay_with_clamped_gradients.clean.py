"""Must stay silent: DQN with replay, epsilon decay, hard target syncs and prioritised weights."""
import collections
import copy
import random
import torch
from torch import nn

torch.manual_seed(6)
random.seed(6)
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target = copy.deepcopy(q)
opt = torch.optim.RMSprop(q.parameters(), lr=1e-3)
memory = collections.deque(maxlen=300)
s, eps = torch.randn(4), 1.0
for t in range(300):
    a = random.randrange(2) if random.random() < eps else q(s.unsqueeze(0)).argmax(1).item()
    s2 = torch.randn(4)
    memory.append((s, a, float(s[a] > 0), s2))
    s, eps = s2, max(0.1, eps * 0.99)
    if len(memory) < 32:
        continue
    batch = random.sample(memory, 16)
    S, A, R, S2 = (torch.stack([b[0] for b in batch]), torch.tensor([b[1] for b in batch]),
                   torch.tensor([b[2] for b in batch]), torch.stack([b[3] for b in batch]))
    with torch.no_grad():
        y = R + 0.9 * target(S2).max(1).values
    td = q(S).gather(1, A.unsqueeze(1)).squeeze(1) - y
    w = (td.detach().abs() + 1e-3) / (td.detach().abs() + 1e-3).max()
    loss = (w * td.pow(2)).mean()
    opt.zero_grad()
    loss.backward()
    for p in q.parameters():
        p.grad.data.clamp_(-1, 1)
    opt.step()
    if t % 50 == 0:
        target.load_state_dict(q.state_dict())
print(len(memory))
