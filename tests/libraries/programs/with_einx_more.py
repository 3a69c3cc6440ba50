"""einx: products, softmax, indexing and reductions in its notation."""

import einx
import torch

torch.manual_seed(0)
x = torch.randn(4, 6, 8, requires_grad=True)
w = torch.randn(8, 5, requires_grad=True)
y = einx.dot("b t [c], [c] d -> b t d", x, w)
print(y.shape, y.sum().item())
z = einx.softmax("b [t] d", y)
l = einx.sum("b [t] d", z * y).pow(2).mean()
l.backward()
print(l.item(), x.grad.norm().item(), w.grad.norm().item())
print(einx.mean("b [...]", x).tolist())
print(einx.rearrange("b (t s) c -> b s t c", x, s=2).shape, einx.max("(b [s]) t c", x, s=2).sum().item())
print(
    einx.add("b t c, c -> b t c", x, torch.arange(8.0)).sum().item(),
    einx.multiply("a, b -> a b", torch.arange(3.0), torch.arange(4.0)).tolist(),
)
idx = torch.randint(0, 6, (4, 3))
print(einx.get_at("b [t] c, b i -> b i c", x, idx).sum().item())
print(
    einx.var("b t [c]", x).sum().item(),
    einx.logsumexp("b [t] c", x).sum().item(),
    einx.flip("b [t] c", x)[0, 0, :3].tolist(),
)
print(einx.where("b t c, , b t c", x > 0, 0.0, x).sum().item())
