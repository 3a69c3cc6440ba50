"""steps of an inner problem, differentiated through once, at the end, without second derivatives; and by hand."""
import torch

torch.manual_seed(107)
meta = torch.zeros(3, requires_grad=True)
for task in range(25):
    goal = torch.randn(3)
    w = meta
    for _ in range(8):
        g, = torch.autograd.grad((w - goal).square().sum(), w)
        w = w - 0.1 * g
    outer, = torch.autograd.grad((w - goal).abs().sum(), meta)
    meta = (meta - 0.1 * outer).detach().requires_grad_()
print(meta.shape)
