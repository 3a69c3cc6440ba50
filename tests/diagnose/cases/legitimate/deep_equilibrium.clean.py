"""Must stay silent: a deep equilibrium layer: the fixed point is sought without a graph, one more step has one."""

import torch
from torch import nn

torch.manual_seed(53)


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.state = nn.Linear(width, width, bias=False)
        self.state.weight.data.mul_(0.5)

    def forward(self, z, x):
        return torch.tanh(self.state(z) + x)


class Equilibrium(nn.Module):
    def __init__(self, cell, iterations=12):
        super().__init__()
        self.cell, self.iterations = cell, iterations

    def forward(self, x):
        with torch.no_grad():
            z = torch.zeros_like(x)
            for _ in range(self.iterations):
                z = self.cell(z, x)
        z = self.cell(z, x)
        if z.requires_grad:
            z0 = z.detach().requires_grad_()
            f0 = self.cell(z0, x)

            def solve(grad):
                g = grad
                for _ in range(self.iterations):
                    g = torch.autograd.grad(f0, z0, g, retain_graph=True)[0] + grad
                return g

            z.register_hook(solve)
        return z


model = nn.Sequential(nn.Linear(5, 12), Equilibrium(Cell(12)), nn.Linear(12, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
x = torch.randn(40, 5)
y = (x[:, 0] * x[:, 1] > 0).long()
for step in range(40):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
