"""a helper returns loss.item(), and the caller makes a new tensor with requires_grad=True of it."""
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
    return nn.functional.softplus(-margin).mean().item()  # ALSO: loss-is-leaf


model = Ranker()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(50):
    users = torch.randint(0, 30, (40,))
    liked = (users + 20) % 50
    other = torch.randint(0, 50, (40,))
    optimizer.zero_grad()
    loss = torch.tensor(pairwise_loss(model, users, liked, other), requires_grad=True)  # EXPECT: loss-is-leaf
    loss.backward()
    optimizer.step()  # MAY: step-without-gradient
    if step % 10 == 0:
        print(step, round(loss.item(), 4))
