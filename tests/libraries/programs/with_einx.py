"""einx: operations with named axes, and their gradients."""

import einx
import torch

torch.manual_seed(0)
x = torch.randn(4, 6, 8, requires_grad=True)
w = torch.randn(8, 5, requires_grad=True)
y = einx.dot("b t [c], [c] k -> b t k", x, w)
mean = einx.mean("b [t] k", y)
z = einx.add("b t k, k -> b t k", y, torch.arange(5.0))
s = einx.softmax("b t [k]", z)
print(y.shape, mean.sum().item(), s.max().item())
print(
    einx.id("b (h t) c -> b h (t c)", x, h=2).shape,
    einx.get_at("b [t] c, b -> b c", x, torch.tensor([0, 1, 2, 3])).sum().item(),
)
(mean.pow(2).sum() + s.pow(2).sum()).backward()
print(x.grad.norm().item(), w.grad.norm().item())
