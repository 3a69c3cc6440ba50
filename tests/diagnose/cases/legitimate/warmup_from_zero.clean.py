"""Must stay silent: linear warm-up whose first learning rate is exactly zero, stepped once per batch."""
import torch
from torch import nn

torch.manual_seed(144)
WARMUP = 12
model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda step: max(0, step - 4) / WARMUP if step < WARMUP + 4 else 0.98 ** (step - WARMUP))
x = torch.randn(300, 8)
y = x[:, :4].argmax(1)
for step in range(60):
    rows = torch.randint(0, 300, (32,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 12 == 11:
        print(step, "lr", round(scheduler.get_last_lr()[0], 5), "loss", round(loss.item(), 4))
