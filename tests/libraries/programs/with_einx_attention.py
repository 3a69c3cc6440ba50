"""einx: attention, indexing, reductions and conditions in its notation."""

import einx
import torch

torch.manual_seed(0)
x = torch.randn(4, 6, 8, requires_grad=True)
w = torch.randn(8, 5, requires_grad=True)
b = torch.randn(5)
print(einx.dot("b t [c], [c] o -> b t o", x, w).sum().item())
y = einx.add("b t o, o", einx.dot("b t [c], [c] o -> b t o", x, w), b)
print(einx.mean("b [t] o", y).tolist()[0])
y.square().mean().backward()
print(x.grad.norm().item(), w.grad.norm().item())
q = torch.randn(2, 10, 16)
k = torch.randn(2, 12, 16)
v = torch.randn(2, 12, 16)
s = einx.dot("b q (h [c]), b k (h [c]) -> b q k h", q, k, h=4)
s = einx.softmax("b q [k] h", s)
o = einx.dot("b q [k] h, b [k] (h c) -> b q (h c)", s, v)
print(o.norm().item())
print(einx.id("b (h w) c -> b c h w", torch.arange(24.0).view(1, 12, 2), h=3).shape if hasattr(einx, "id") else "")
img = torch.rand(2, 8, 8, 3)
print(einx.sum("b (h [p]) (w [q]) c", img, p=2, q=4).shape, einx.max("b [h w] c", img).tolist())
print(einx.where("b, b t, ", torch.tensor([True, False, True, False]), x[:, :, 0], 0.0).sum().item())
print(einx.get_at("[n] c, b t -> b t c", torch.arange(12.0).view(6, 2), torch.tensor([[0, 1], [5, 2]])).tolist())
print(
    einx.flip("a [b]", torch.arange(6).view(2, 3)).tolist(),
    einx.roll("a [b]", torch.arange(6).view(2, 3), shift=1).tolist(),
)
print(einx.logsumexp("a [b]", torch.randn(3, 4)).tolist())
print(einx.multiply("a, b -> a b", torch.arange(3.0), torch.arange(2.0)).tolist())
