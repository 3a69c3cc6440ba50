"""Warm-up, accumulation, then a polishing stage with SWA-like averages, one optimizer all along."""
import torch
from torch import nn
torch.manual_seed(2)
net = nn.Sequential(nn.Linear(4, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Dropout(0.1), nn.Linear(12, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)
avg = None
for stage, steps in enumerate((210, 240, 150)):
    net.train()
    for i in range(steps):
        x = torch.randn(8, 4)
        loss = nn.functional.mse_loss(net(x), x[:, :1])
        if stage == 1:
            (loss / 3).backward()
            if i % 3 == 2:
                opt.step()
                opt.zero_grad()
            continue
        opt.zero_grad()
        loss.backward()
        opt.step()
        if stage == 2 and i % 10 == 9:
            avg = [p.detach().clone() if avg is None else 0.9 * a + 0.1 * p.detach() for a, p in zip(avg or net.parameters(), net.parameters())]
    opt.zero_grad()
    net.eval()
    with torch.no_grad():
        print(stage, nn.functional.mse_loss(net(x), x[:, :1]).item())
