"""the TD target is a column, the value estimate a vector."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(24)
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
for step in range(30):
    s, s2 = torch.randn(32, 4), torch.randn(32, 4)
    a, r = torch.randint(2, (32, 1)), torch.rand(32, 1)
    with torch.no_grad():
        goal = r + 0.9 * target(s2).max(1, keepdim=True).values
    chosen = q(s).gather(1, a).squeeze(1)
    loss = F.smooth_l1_loss(chosen, goal)  # EXPECT: loss-broadcast
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        target.load_state_dict(q.state_dict())
print(f"{loss.item():.3f}")
