"""a step whose gradient is too large is left out: its norm is asked for, and the gradients are cleared."""
import torch
from torch import nn

torch.manual_seed(303)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
left_out = 0
for step in range(60):
    x = torch.randn(20, 3) * (50 if step % 9 == 8 else 1)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
    if norm > 20:
        left_out += 1
        optimizer.zero_grad()
        continue
    optimizer.step()
print("left out", left_out)
