"""Must stay silent: clip_grad_norm_ with max_norm=inf only to log the gradient norm, before and after a step."""
import torch
from torch import nn

torch.manual_seed(150)
model = nn.Sequential(nn.Linear(6, 24), nn.SiLU(), nn.Linear(24, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history = []
for step in range(40):
    x = torch.randn(32, 6)
    y = (x.sum(1) > 0).long()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=float("inf"))
    history.append(norm.item())
print("mean norm", round(sum(history) / len(history), 4), "loss", round(loss.item(), 4))
