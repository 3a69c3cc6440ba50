"""A GradScaler that begins so high that its first scales overflow on purpose."""
import torch
from torch import nn

torch.manual_seed(4)
net = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 1))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=50)
skipped = 0
for it in range(150):
    x = torch.randn(32, 16)
    y = x[:, :1] * 3
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        pred = net(x)
        loss = nn.functional.mse_loss(pred.float(), y)
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    before = scaler.get_scale()
    scaler.step(opt)
    scaler.update()
    skipped += scaler.get_scale() < before
print("skipped", skipped, f"{loss.item():.3f}")
