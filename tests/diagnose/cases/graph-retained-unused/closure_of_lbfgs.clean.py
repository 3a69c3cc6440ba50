"""An LBFGS closure without retain_graph: every evaluation builds a new graph."""
import torch
from torch import nn

torch.manual_seed(17)


class Rosenbrock(nn.Module):
    def __init__(self):
        super().__init__()
        self.xy = nn.Parameter(torch.tensor([-1.2, 1.0]))

    def forward(self):
        x, y = self.xy
        return (1 - x) ** 2 + 100 * (y - x**2) ** 2


problem = Rosenbrock()
optimizer = torch.optim.LBFGS(problem.parameters(), lr=0.5, max_iter=5)


def closure():
    optimizer.zero_grad()
    value = problem()
    value.backward()
    return value


for round_number in range(10):
    value = optimizer.step(closure)
    if value < 1e-9:
        break
print("minimum at", [round(v, 3) for v in problem.xy.tolist()], "value", float(value))
