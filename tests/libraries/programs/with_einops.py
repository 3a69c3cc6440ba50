"""einops: patterns of rearranging, and its layers inside a model that is trained."""

import torch
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce

torch.manual_seed(0)
images = torch.randn(8, 3, 16, 16)
patches = rearrange(images, "b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4)
print(patches.shape, patches.std().item())
print(reduce(images, "b c (h 2) (w 2) -> b c h w", "max").sum().item(), repeat(images[0, 0], "h w -> h (w 3)").shape)
packed, shapes = pack([torch.randn(2, 3), torch.randn(2, 4, 5)], "b *")
print(packed.shape, [part.shape for part in unpack(packed, shapes, "b *")])
print(einsum(patches, patches, "b i d, b j d -> b i j").mean().item())

model = torch.nn.Sequential(
    Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4),
    EinMix("b t c -> b t k", weight_shape="c k", bias_shape="k", c=48, k=32),
    torch.nn.GELU(),
    Reduce("b t k -> b k", "mean"),
    torch.nn.Linear(32, 2),
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
labels = (images.mean((1, 2, 3)) > 0).long()
for _ in range(20):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
print(loss.item())
