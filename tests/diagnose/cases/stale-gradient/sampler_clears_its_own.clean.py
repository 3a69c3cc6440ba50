"""Legitimate: an optimizer of the user's own computes the gradient, uses it and clears it, all inside its step()."""
import torch


class Langevin(torch.optim.Optimizer):
    def __init__(self, params, rate):
        super().__init__(params, {"rate": rate})

    def step(self, closure):
        closure().backward()
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    noise = torch.randn_like(p) * group["rate"] ** 0.5
                    p.copy_(p + 0.5 * group["rate"] * p.grad + noise)
                    p.grad.zero_()


torch.manual_seed(11)
point = torch.nn.Parameter(torch.randn(3))
sampler = Langevin([point], rate=0.05)
for _ in range(30):
    sampler.step(lambda: -(point**2).sum())
print(point.norm().item())
