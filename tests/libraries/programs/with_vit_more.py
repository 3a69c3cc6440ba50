"""vit-pytorch: several architectures, and recording attention."""

import torch
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cait import CaiT
from vit_pytorch.cct import CCT
from vit_pytorch.deepvit import DeepViT
from vit_pytorch.recorder import Recorder

torch.manual_seed(0)
x = torch.randn(2, 3, 32, 32)
y = torch.randint(0, 10, (2,))


def run(m, n=3):
    o = torch.optim.Adam(m.parameters(), lr=1e-3)
    m.train()
    for _ in range(n):
        l = torch.nn.functional.cross_entropy(m(x), y)
        o.zero_grad()
        l.backward()
        o.step()
        print(type(m).__name__, l.item())


v = ViT(image_size=32, patch_size=8, num_classes=10, dim=32, depth=2, heads=4, mlp_dim=64, dropout=0.1, emb_dropout=0.1)
run(v)
run(SimpleViT(image_size=32, patch_size=8, num_classes=10, dim=32, depth=2, heads=4, mlp_dim=64))
run(
    CCT(
        img_size=32,
        embedding_dim=32,
        n_conv_layers=1,
        kernel_size=3,
        stride=2,
        padding=1,
        pooling_kernel_size=3,
        pooling_stride=2,
        pooling_padding=1,
        num_layers=2,
        num_heads=4,
        mlp_ratio=2.0,
        num_classes=10,
        positional_embedding="learnable",
    ),
    2,
)
run(DeepViT(image_size=32, patch_size=8, num_classes=10, dim=32, depth=2, heads=4, mlp_dim=64), 2)
run(
    CaiT(
        image_size=32,
        patch_size=8,
        num_classes=10,
        dim=32,
        depth=2,
        cls_depth=1,
        heads=4,
        mlp_dim=64,
        layer_dropout=0.05,
    ),
    2,
)
r = Recorder(v.eval())
p, a = r(x)
print(p.shape, a.shape, a.sum().item())
