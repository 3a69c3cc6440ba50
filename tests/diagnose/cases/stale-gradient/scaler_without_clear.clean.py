"""mixed precision on the CPU with a scaler, accumulation and clipping."""
import torch
from torch import nn

torch.manual_seed(48)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12)
for i in range(60):
    x = torch.randn(16, 10)
    y = x[:, :4].argmax(1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(net(x), y) / 2
    scaler.scale(loss).backward()
    if i % 2:
        scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
print("scaled")
