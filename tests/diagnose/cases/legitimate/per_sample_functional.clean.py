"""Per-sample gradients by vmap, clipped, and put into .grad by hand."""
import torch
import torch.nn as nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(3)
net = nn.Linear(6, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)


def loss_of(params, x, y):
    return nn.functional.cross_entropy(functional_call(net, params, (x[None],)), y[None])


for step in range(25):
    x = torch.randn(16, 6)
    y = (x[:, 0] > 0).long()
    params = {k: v.detach() for k, v in net.named_parameters()}
    each = vmap(grad(loss_of), in_dims=(None, 0, 0))(params, x, y)
    norms = torch.stack([g.flatten(1).norm(dim=1) for g in each.values()]).norm(dim=0)
    scale = (1.0 / (norms + 1e-6)).clamp(max=1)
    opt.zero_grad()
    for k, p in net.named_parameters():
        p.grad = (each[k] * scale.view(-1, *[1] * (each[k].dim() - 1))).mean(0)
    opt.step()
print("done")
