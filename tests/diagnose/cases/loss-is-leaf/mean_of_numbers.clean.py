"""Legitimate twin: now and then there is no pair, and a zero that requires a gradient stands for the loss."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(89)


def pair_losses(embeddings, labels, margin):
    distance = torch.cdist(embeddings, embeddings)
    close = (labels[:, None] != labels[None]) & (distance < margin)
    if not close.any():
        return torch.tensor(0.0, requires_grad=True)
    return F.relu(margin - distance)[close].mean()


x = torch.randn(60, 6)
labels = torch.arange(60) % 3
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    loss = pair_losses(model(x), labels, 2.0 if step % 4 else -1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
