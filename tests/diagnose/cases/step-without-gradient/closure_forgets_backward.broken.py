"""the closure given to LBFGS returns the loss without calling backward()."""
import torch
from torch import nn

torch.manual_seed(124)


def rosenbrock_like(p: torch.Tensor, data: torch.Tensor) -> torch.Tensor:
    return ((1 - p[0]) ** 2 + 10 * (p[1] - p[0] ** 2) ** 2) + 0.1 * (data * p[2]).pow(2).mean()


class Fit(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.tensor([-1.0, 1.0, 0.5]))

    def objective(self, data):
        return rosenbrock_like(self.p, data)


def main():
    model, data = Fit(), torch.randn(20)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5)

    def closure():
        optimizer.zero_grad()
        loss = model.objective(data)
        return loss

    values = []
    for _ in range(6):
        values.append(float(optimizer.step(closure)))  # EXPECT: step-without-gradient
    print([round(v, 4) for v in values])


if __name__ == "__main__":
    main()
