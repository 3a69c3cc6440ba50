"""Legitimate twin: the gradients of torch.autograd.grad are written to .grad by hand before step()."""
import torch
from torch import nn

torch.manual_seed(44)


class Field(nn.Module):
    """u(t) for the equation u' = -2u, u(0) = 1."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, t):
        return 1 + t * self.net(t)


def residual(field, t):
    t = t.requires_grad_()
    u = field(t)
    du, = torch.autograd.grad(u.sum(), t, create_graph=True)
    return (du + 2 * u).pow(2).mean()


def update(field, optimizer, loss):
    params = list(field.parameters())
    grads = torch.autograd.grad(loss, params)
    grads = [g.clamp(-1, 1) for g in grads]
    for p, g in zip(params, grads):
        p.grad = g
    optimizer.step()
    return sum(g.norm().item() for g in grads)


field = Field()
optimizer = torch.optim.RMSprop(field.parameters(), lr=2e-3)
for it in range(60):
    loss = residual(field, torch.rand(40, 1))
    norm = update(field, optimizer, loss)
    if it % 15 == 14:
        print(it, f"residual {loss.item():.4f} gradients {norm:.3f}")
