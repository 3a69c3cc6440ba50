"""A lattice of layers is a list of lists: the optimizer gets the first and the last layer only."""

import torch
from torch import nn

torch.manual_seed(15)


def row_of_cells(width):
    return [nn.Linear(width, width) for _ in range(3)]


class Lattice(nn.Module):
    def __init__(self, rows=2, width=6):
        super().__init__()
        self.rows, self.columns = rows, 3
        self.first = nn.Linear(4, width)
        self.cells = [row_of_cells(width) for _ in range(rows)]  # EXPECT: parameter-unregistered
        self.last = nn.Linear(width, 1)

    def forward(self, x):
        h = torch.tanh(self.first(x))
        paths = []
        for r in range(self.rows):
            path = h
            for c in range(self.columns):
                path = torch.tanh(self.cells[r][c](path))
            paths.append(path)
        return self.last(torch.stack(paths).mean(0))


x = torch.randn(50, 4)
y = torch.sin(x.sum(1, keepdim=True))
model = Lattice()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5)


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss


for _ in range(6):
    value = optimizer.step(closure)
print("loss", float(value))
