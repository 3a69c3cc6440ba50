"""Each loss has a sparsity term, and a record of its values keeps them as they are."""

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(17)


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(10, 30), nn.Linear(30, 10)

    def forward(self, x):
        code = torch.sigmoid(self.up(x))
        return self.down(code), code


def sparsity(code):
    rate = code.mean(0)
    return (0.05 * torch.log(0.05 / rate) + 0.95 * torch.log(0.95 / (1 - rate))).sum()  # EXPECT: graphs-accumulate


x = torch.randn(160, 10)
model = Coder()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
record = {"fit": [], "sparsity": []}
for step in range(1400):
    rows = torch.randint(0, 160, (20,))
    rebuilt, code = model(x[rows])
    loss = F.mse_loss(rebuilt, x[rows])
    record["fit"].append(loss.detach())
    term = sparsity(code)
    if step >= 260:
        record["sparsity"].append(term)
    loss = loss + 1e-3 * term
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
