"""einops: attention and patches in its notation, every way to call it."""

import torch
from einops import einsum, pack, parse_shape, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(s, dim, heads=4):
        super().__init__()
        s.h = heads
        s.qkv = nn.Linear(dim, dim * 3, bias=False)
        s.out = nn.Linear(dim, dim)

    def forward(s, x):
        q, k, v = rearrange(s.qkv(x), "b n (three h d) -> three b h n d", three=3, h=s.h)
        a = einsum(q, k, "b h i d, b h j d -> b h i j") * q.shape[-1] ** (-0.5)
        return s.out(rearrange(einsum(a.softmax(-1), v, "b h i j, b h j d -> b h i d"), "b h n d -> b n (h d)"))


class Net(nn.Module):
    def __init__(s):
        super().__init__()
        s.patch = nn.Sequential(Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=4, p2=4), nn.Linear(48, 32))
        s.cls = nn.Parameter(torch.randn(32))
        s.att = Attention(32)
        s.mix = EinMix("b n c -> b n o", weight_shape="c o", bias_shape="o", c=32, o=16)
        s.pool = Reduce("b n o -> b o", "mean")
        s.head = nn.Linear(16, 3)

    def forward(s, x):
        x = s.patch(x)
        c = repeat(s.cls, "d -> b d", b=x.shape[0])
        x, ps = pack([c, x], "b * d")
        x = x + s.att(x)
        c, y = unpack(x, ps, "b * d")
        return s.head(s.pool(s.mix(y))) + c[:, :3]


m = Net()
o = torch.optim.AdamW(m.parameters(), 0.001)
x = torch.randn(8, 3, 16, 16)
y = torch.randint(3, (8,))
for i in range(6):
    l = nn.functional.cross_entropy(m(x), y)
    o.zero_grad()
    l.backward()
    o.step()
    print(i, l.item())
img = torch.rand(2, 3, 8, 8)
print(reduce(img, "b c (h 2) (w 2) -> b c h w", "max").sum().item())
print(reduce(img, "b c h w -> b c () ()", "mean").flatten().tolist())
print(repeat(img, "b c h w -> b c (h 2) (w 3)").shape, parse_shape(img, "b _ h w"))
print(rearrange([img[0], img[1]], "b c h w -> h (b w) c").shape)
print(reduce(img, "b c h w -> c", "prod").tolist())
print(reduce(img, "b ... -> b", lambda t, ax: t.std(ax)).tolist())
print(m.patch[0], m.mix)
try:
    rearrange(img, "b c (h 3) w -> b c h w")
except Exception as e:
    print(type(e).__name__)
z = img.clone().requires_grad_()
reduce(z, "b c (h p) (w q) -> b c h w", "min", p=2, q=2).sum().backward()
print(z.grad.sum().item())
