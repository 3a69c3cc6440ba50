"""Must stay silent: state dict synced target."""
import torch
from torch import nn
torch.manual_seed(59)
online, target = nn.Linear(3, 2), nn.Linear(3, 2)
target.load_state_dict(online.state_dict())
opt = torch.optim.Adam(online.parameters(), 1e-2)
for t in range(60):
    s = torch.randn(16, 3)
    with torch.no_grad():
        y = target(s).max(1).values
    loss = (online(s)[:, 0] - 0.9 * y - s[:, 0]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sd, td = online.state_dict(), target.state_dict()
    for k in sd:
        td[k] = 0.95 * td[k] + 0.05 * sd[k]
    target.load_state_dict(td)
print("polyak")
