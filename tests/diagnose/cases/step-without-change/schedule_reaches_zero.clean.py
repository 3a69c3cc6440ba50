"""The schedule falls to zero long before the training ends."""
import torch
from torch import nn

torch.manual_seed(22)
EPOCHS, STEPS = 8, 10
net = nn.Sequential(nn.Linear(4, 16), nn.ELU(), nn.Linear(16, 4))
opt = torch.optim.AdamW(net.parameters(), lr=5e-3, weight_decay=0.0)
schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: max(0.0, 1 - k / (EPOCHS * STEPS)))
x = torch.randn(STEPS * 16, 4)
for epoch in range(EPOCHS):
    for xb in x.split(16):
        loss = (net(xb) - xb.flip(1)).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        schedule.step()
print(opt.param_groups[0]["lr"] < 1)
