"""Must stay silent: episode buffer consumed."""
import torch
from torch import nn
from torch.distributions import Categorical
torch.manual_seed(41)
pi = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.Adam(pi.parameters(), 1e-2)
class Memory(list):
    pass
for ep in range(15):
    mem = Memory()
    s = torch.randn(3)
    for t in range(5 + ep):
        d = Categorical(logits=pi(s))
        a = d.sample()
        mem.append((d.log_prob(a), 1.0 if a == 0 else 0.0))
        s = torch.randn(3)
    g, rets = 0.0, []
    for _, r in reversed(mem):
        g = r + 0.9 * g
        rets.insert(0, g)
    rets = torch.tensor(rets)
    rets = (rets - rets.mean()) / (rets.std() + 1e-8)
    loss = -(torch.stack([lp for lp, _ in mem]) * rets).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("reinforce")
