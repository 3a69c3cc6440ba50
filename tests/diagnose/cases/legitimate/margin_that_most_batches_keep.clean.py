"""Must stay silent: a hinge that nearly every batch satisfies, with a weak penalty; the gradient of one that does not is an ordinary one."""
import torch
from torch import nn

torch.manual_seed(65)
embed = nn.Linear(6, 3)
optimizer = torch.optim.Adam(embed.parameters(), lr=1e-2)
for step in range(100):
    anchor = torch.randn(16, 6)
    close = anchor + 0.05 * torch.randn(16, 6)
    other = torch.randn(16, 6) + 3
    gap = (embed(anchor) - embed(close)).pow(2).sum(1) - (embed(anchor) - embed(other)).pow(2).sum(1)
    loss = torch.relu(gap + 0.2).mean() + 1e-4 * sum(w.pow(2).sum() for w in embed.parameters())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 5))
