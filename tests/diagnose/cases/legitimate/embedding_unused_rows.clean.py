"""Must stay silent: a large embedding table of which the data use a few rows; the others have zero gradients for ever."""
import torch
from torch import nn

torch.manual_seed(168)


class Recommender(nn.Module):
    def __init__(self, users=400, items=600, dim=8):
        super().__init__()
        self.users = nn.Embedding(users, dim)
        self.items = nn.Embedding(items, dim, padding_idx=0)
        self.bias = nn.Embedding(items, 1)

    def forward(self, user, item):
        return (self.users(user) * self.items(item)).sum(1) + self.bias(item).squeeze(1)


model = Recommender()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
for step in range(60):
    user, item = torch.randint(0, 40, (32,)), torch.randint(1, 30, (32,))
    rating = ((user + item) % 5).float() - 2
    loss = nn.functional.mse_loss(model(user, item), rating)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step, round(loss.item(), 4))
