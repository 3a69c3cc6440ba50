"""an auxiliary loss is switched on after forty steps: until then its weight is 0, and its head waits."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(302)


def weight_at(step, start=40, length=40):
    return min(1.0, max(0.0, (step - start) / length))


trunk, level, kind = nn.Linear(6, 20), nn.Linear(20, 1), nn.Linear(20, 3)
parts = nn.ModuleList([trunk, level, kind])
optimizer = torch.optim.AdamW(parts.parameters(), lr=5e-3)
x = torch.randn(90, 6)
for step in range(120):
    h = F.silu(trunk(x))
    main = F.mse_loss(level(h), x[:, :1])
    auxiliary = F.cross_entropy(kind(h), x[:, :3].argmax(1))
    loss = main + weight_at(step) * auxiliary
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(main.item(), 4), round(auxiliary.item(), 4))
