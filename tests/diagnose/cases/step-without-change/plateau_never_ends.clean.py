"""It stops at a rate that moves something."""
import torch
from torch import nn

torch.manual_seed(38)
model = nn.Linear(6, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=20, min_lr=1e-3)
for epoch in range(60):
    total = 0.0
    for _ in range(10):
        x = torch.randn(32, 6)
        y = x[:, :1] + 0.5 * torch.randn(32, 1)
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    plateau.step(total)
print(total, opt.param_groups[0]["lr"])
