"""The second head has no labels in the first 40 steps: their mask is zero everywhere, and so is its gradient."""
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(2)
body, ha, hb = nn.Linear(6, 16), nn.Linear(16, 1), nn.Linear(16, 1)
opt = torch.optim.SGD([*body.parameters(), *ha.parameters(), *hb.parameters()], lr=0.05)
for i in range(90):
    x = torch.randn(16, 6)
    has_b = torch.zeros(16) if i < 40 else (torch.rand(16) < 0.5).float()
    h = torch.tanh(body(x))
    la = F.mse_loss(ha(h).squeeze(1), x[:, 0])
    lb = ((hb(h).squeeze(1) - x[:, 1]).pow(2) * has_b).sum() / has_b.sum().clamp(min=1)
    loss = la + lb
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
