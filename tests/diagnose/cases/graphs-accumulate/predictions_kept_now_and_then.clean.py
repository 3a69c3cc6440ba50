"""Predictions that are made now and then are kept for the end, without their graphs."""
import torch
from torch import nn

torch.manual_seed(305)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
probe, outputs = torch.randn(32, 6), []
for step in range(60):
    x = torch.randn(16, 6)
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 4 == 3:
        prediction = net(probe)
        outputs.append(prediction.detach())
print(len(outputs), f"{outputs[-1].mean().item():.4f}")
