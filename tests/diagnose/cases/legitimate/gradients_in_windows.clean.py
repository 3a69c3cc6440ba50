"""windows of five steps, gradients of the growing window in each of them; then it is cut."""
import torch
from torch import nn

torch.manual_seed(1)
lin, rec = nn.Linear(3, 4), nn.Parameter(torch.full((4,), 0.5))
params = [*lin.parameters(), rec]
opt = torch.optim.SGD(params, lr=0.01)
h = torch.zeros(4)
for t in range(100):
    x = torch.randn(3)
    h = h * 0.5 + lin(x)
    grads = torch.autograd.grad(h.square().sum() + rec.sum(), params, retain_graph=True)
    if t % 5 == 4:
        for p, g in zip(params, grads):
            p.grad = g
        opt.step()
        h = h.detach()
print("ok")
