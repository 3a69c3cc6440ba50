"""Legitimate twin: the helper returns the tensor; a running mean that starts as a leaf is carried on by operations."""
import torch
from torch import nn

torch.manual_seed(10)


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(30, 8)
        self.item = nn.Embedding(50, 8)

    def forward(self, users, items):
        return (self.user(users) * self.item(items)).sum(1)


def pairwise_loss(model, users, liked, other):
    margin = model(users, liked) - model(users, other)
    return nn.functional.softplus(-margin).mean()


model = Ranker()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(50):
    users = torch.randint(0, 30, (40,))
    liked = (users + 20) % 50
    other = torch.randint(0, 50, (40,))
    optimizer.zero_grad()
    loss = torch.tensor(0.0, requires_grad=True)
    for half in (slice(0, 20), slice(20, 40)):
        loss = loss + pairwise_loss(model, users[half], liked[half], other[half]) / 2
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, round(loss.item(), 4))
