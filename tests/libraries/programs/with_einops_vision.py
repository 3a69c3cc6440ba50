"""einops: a vision transformer of its mixing layers, functional calls, second derivatives, lists."""

import torch
import torch.nn as nn
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix

torch.manual_seed(1)


class MHA(nn.Module):
    def __init__(self, dim, heads, dh):
        super().__init__()
        self.qkv = EinMix("b t c -> three b h t d", "three c h d", "three h d", three=3, c=dim, h=heads, d=dh)
        self.out = EinMix("b h t d -> b t c", "h d c", "c", h=heads, d=dh, c=dim)

    def forward(self, x):
        q, k, v = self.qkv(x)
        a = einsum(q, k, "b h i d, b h j d -> b h i j").mul(q.shape[-1] ** -0.5).softmax(-1)
        return self.out(einsum(a, v, "b h i j, b h j d -> b h i d"))


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = EinMix("b c (h h2) (w w2) -> b (h w) e", "c h2 w2 e", "e", c=3, h2=4, w2=4, e=24)
        self.cls = nn.Parameter(torch.randn(24))
        self.blocks = nn.ModuleList(MHA(24, 3, 8) for _ in range(2))
        self.n = nn.ModuleList(nn.LayerNorm(24) for _ in range(2))
        self.head = nn.Linear(24, 5)

    def forward(self, im):
        t = self.patch(im)
        c = repeat(self.cls, "e -> b e", b=len(im))
        t, ps = pack([c, t], "b * e")
        for n, b in zip(self.n, self.blocks, strict=True):
            t = t + b(n(t))
        c, t = unpack(t, ps, "b * e")
        return self.head(c + reduce(t, "b n e -> b e", "mean"))


m = ViT()
im = torch.randn(8, 3, 16, 16)
y = torch.randint(0, 5, (8,))
o = torch.optim.AdamW(m.parameters(), 1e-3)
for _ in range(6):
    l = nn.functional.cross_entropy(m(im), y)
    o.zero_grad()
    l.backward()
    nn.utils.clip_grad_norm_(m.parameters(), 1.0)
    o.step()
    print(l.item())
f = lambda p: torch.func.functional_call(m, p, (im,)).square().sum()
p = dict(m.named_parameters())
g = torch.func.grad(f)(p)
print(sorted((k, round(v.norm().item(), 4)) for k, v in g.items())[:5])
x = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
print(
    torch.autograd.gradgradcheck(lambda x: reduce(rearrange(x, "a (b c) -> c a b", c=2) ** 3, "c a b -> a", "prod"), x)
)
print(rearrange([torch.full((2, 3), float(i)) for i in range(4)], "n a b -> a (n b)").sum(0).tolist())
print(
    reduce(torch.arange(24).view(2, 3, 4), "a b c -> b", "sum").tolist(),
    reduce(torch.rand(4, 4) > 0.5, "a b -> b", "any").tolist(),
)
print(
    torch.vmap(lambda t: rearrange(t, "(a b) c -> a (b c)", a=2))(torch.randn(5, 4, 3)).shape,
    rearrange(torch.randn(4, 6).half(), "a (b c) -> b a c", b=3).dtype,
)
