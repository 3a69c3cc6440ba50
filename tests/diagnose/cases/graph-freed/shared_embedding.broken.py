"""Two losses share a table that is looked up once, each with its own backward."""
import torch
from torch import nn

torch.manual_seed(26)
table = nn.Embedding(20, 6)
item = nn.Linear(6, 6)
opt = torch.optim.Adagrad([*table.parameters(), *item.parameters()], lr=0.1)
users = torch.randint(0, 20, (32,))
for epoch in range(6):
    opt.zero_grad()
    vectors = torch.tanh(item(table(users)))  # EXPECT-ERROR: graph-freed
    for weight in (1.0, 0.1):
        loss = weight * (vectors.pow(2).sum(1) - 1).pow(2).mean()
        loss.backward()
    opt.step()
print(epoch)
