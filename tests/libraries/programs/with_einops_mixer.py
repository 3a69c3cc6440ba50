"""einops: a mixer of patches from its layers, packing, and every reduction."""

import torch
from einops import asnumpy, einsum, pack, parse_shape, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn

torch.manual_seed(0)


class Mixer(nn.Module):
    def __init__(s, dim=16, patches=16):
        super().__init__()
        s.net = nn.Sequential(
            Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=4, p2=4),
            nn.Linear(48, dim),
            nn.LayerNorm(dim),
            EinMix("b t c -> b t0 c", weight_shape="t t0", bias_shape="t0", t=patches, t0=patches),
            nn.GELU(),
            EinMix(
                "b t (h c) -> b t (h c_out)",
                weight_shape="h c c_out",
                bias_shape="h c_out",
                h=2,
                c=dim // 2,
                c_out=dim // 2,
            ),
            Reduce("b t c -> b c", "mean"),
            nn.Linear(dim, 5),
        )

    def forward(s, x):
        return s.net(x)


m = Mixer()
opt = torch.optim.AdamW(m.parameters(), lr=1e-2)
x = torch.randn(8, 3, 16, 16)
y = torch.randint(0, 5, (8,))
for i in range(6):
    loss = nn.functional.cross_entropy(m(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
q, k = torch.randn(2, 5, 4, 6, requires_grad=True), torch.randn(2, 7, 4, 6)
a = einsum(q, k, "b i h d, b j h d -> b h i j").softmax(-1)
(a**2).sum().backward()
print(a.shape, q.grad.norm().item())
p, ps = pack([torch.randn(3, 4), torch.randn(3, 2, 4), torch.randn(3, 2, 2, 4)], "b * d")
print(p.shape, ps, [t.sum().item() for t in unpack(p, ps, "b * d")])
print(
    parse_shape(x, "b _ h w"),
    asnumpy(reduce(x, "b c (h 2) (w 2) -> c h w", "max")).sum(),
    repeat(x[:, 0], "b h w -> b c (h r) w", c=3, r=2).mean().item(),
)
print(reduce([x, x], "k b c h w -> b c", "min").sum().item(), rearrange(x, "b c h w -> (b c) (h w)").std().item())
for op in ("sum", "prod", "mean", "max", "min", "any", "all"):
    t = x[:1, :, :2, :2] > 0 if op in ("any", "all") else x[:1, :, :2, :2]
    print(op, reduce(t, "b c h w -> c", op).tolist())
print(m.net[0], m.net[3])
