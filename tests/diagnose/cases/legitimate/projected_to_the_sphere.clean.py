"""Must stay silent: the leading eigenvector by gradient steps on the sphere; at the optimum the projected step is zero, the gradient is not."""

import torch


class SphereSGD(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                tangent = p.grad - (p.grad @ p) * p
                moved = p - group["lr"] * tangent
                p.copy_(moved / moved.norm())


torch.manual_seed(0)
matrix = torch.diag(torch.tensor([5.0, 1.0, 0.5, 0.1], dtype=torch.float64))
vector = torch.nn.Parameter(torch.nn.functional.normalize(torch.randn(4, dtype=torch.float64), dim=0))
optimizer = SphereSGD([vector], lr=0.1)
for _ in range(120):
    optimizer.zero_grad()
    loss = -(vector @ matrix @ vector)
    loss.backward()
    optimizer.step()
print(round(loss.item(), 6))
