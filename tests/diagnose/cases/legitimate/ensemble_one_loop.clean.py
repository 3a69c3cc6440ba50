"""Must stay silent: five models and five optimizers trained side by side, each on its own bootstrap sample."""
import torch
from torch import nn

torch.manual_seed(169)
x = torch.rand(120, 2) * 4 - 2
y = (x[:, :1] * x[:, 1:]).sin()
members = [nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1)) for _ in range(5)]
optimizers = [torch.optim.Adam(member.parameters(), lr=1e-2) for member in members]
for step in range(30):
    losses = []
    for member, optimizer in zip(members, optimizers):
        rows = torch.randint(0, 120, (40,))
        loss = nn.functional.mse_loss(member(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
with torch.no_grad():
    predictions = torch.stack([member(x) for member in members])
print("losses", [round(value, 3) for value in losses], "spread", round(predictions.std(0).mean().item(), 4))
