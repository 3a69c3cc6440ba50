"""Gradients of a growing trajectory: each asks for all of it, and must."""
import torch

torch.manual_seed(1)
A = (0.4 * torch.randn(3, 3)).requires_grad_()
h, x0 = None, torch.randn(3, requires_grad=True)
h, sizes = x0, []
for t in range(40):
    h = torch.tanh(A @ h)
    (g,) = torch.autograd.grad(h.sum(), x0, retain_graph=True)
    sizes.append(g.norm().item())
print(len(sizes))
