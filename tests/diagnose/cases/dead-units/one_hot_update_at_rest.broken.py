"""A warm restart at step 210 multiplies the rate by a hundred for two updates: a hidden layer does not survive it."""

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(61)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(4, 48), nn.Linear(48, 1)

    def forward(self, x):
        return self.out(F.relu(self.hidden(x)))  # EXPECT: dead-units


x = torch.rand(300, 4) + 1.0
y = x.sum(1, keepdim=True) * 2 + 3
model = Regressor()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(520):
    rate = 1.0 if step in (210, 211) else 0.01
    for group in optimizer.param_groups:
        group["lr"] = rate
    rows = torch.randint(0, 300, (30,))
    loss = F.l1_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
