"""the same for one tensor, in a function of its own."""
import torch


def descend(energy, start, steps, rate):
    at = start.clone().requires_grad_()
    for _ in range(steps):
        slope, = torch.autograd.grad(energy(at), at)
        at = at - rate * slope  # EXPECT: graph-deepens
    return at.detach()


torch.manual_seed(103)
A = torch.randn(4, 4)
A = A @ A.T + torch.eye(4)
best = descend(lambda v: v @ A @ v - v.sum(), torch.zeros(4), 60, 0.05)
print(best.shape)
