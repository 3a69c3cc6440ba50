"""Hard-negative mining with detached distances, a memory bank updated by .data, margin loss that is often zero."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(12)
enc = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4))
bank = torch.zeros(10, 4)
opt = torch.optim.Adam(enc.parameters(), 3e-3)
means = torch.randn(10, 6) * 2
for it in range(150):
    y = torch.randint(0, 10, (32,))
    z = F.normalize(enc(means[y] + 0.3 * torch.randn(32, 6)), dim=1)
    with torch.no_grad():
        d = torch.cdist(z, z)
        same = y[:, None] == y[None]
        hard_pos = torch.where(same, d, torch.tensor(-1.0)).argmax(1)
        hard_neg = torch.where(same, torch.tensor(1e9), d).argmin(1)
    loss = F.triplet_margin_loss(z, z[hard_pos], z[hard_neg], margin=0.3)
    loss = loss + 0.1 * (1 - (z * F.normalize(bank[y] + 1e-6, dim=1)).sum(1)).clamp(min=0).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for i in range(32):
        bank.data[y[i]] = 0.9 * bank.data[y[i]] + 0.1 * z[i].detach()
print(f"{loss.item():.3f}")
