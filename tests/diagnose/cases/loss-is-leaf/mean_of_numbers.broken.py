"""the losses of the pairs become numbers, and their mean a new tensor that requires a gradient."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(89)


def pair_losses(embeddings, labels, margin):
    distance = torch.cdist(embeddings, embeddings)
    close = (labels[:, None] != labels[None]) & (distance < margin)
    hinge = F.relu(margin - distance)
    return [value.item() for value in hinge[close]] or [0.0]  # ALSO: loss-is-leaf


x = torch.randn(60, 6)
labels = torch.arange(60) % 3
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    loss = torch.tensor(sum(pair_losses(model(x), labels, 2.0)) / 60, requires_grad=True)  # EXPECT: loss-is-leaf
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # MAY: step-without-gradient
    if step % 10 == 0:
        print(step, loss.item())
