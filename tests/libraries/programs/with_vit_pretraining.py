"""vit-pytorch: masked images, distillation, video, images of several sizes."""

import torch
from vit_pytorch import ViT
from vit_pytorch.distill import DistillableViT, DistillWrapper
from vit_pytorch.extractor import Extractor
from vit_pytorch.max_vit import MaxViT
from vit_pytorch.na_vit import NaViT
from vit_pytorch.vit_3d import ViT as ViT3D
from vit_pytorch.vivit import ViViT

torch.manual_seed(0)
v = ViT(image_size=32, patch_size=8, num_classes=5, dim=32, depth=2, heads=2, mlp_dim=64)
x = torch.randn(3, 3, 32, 32)


class Teacher(torch.nn.Module):
    def __init__(s):
        super().__init__()
        s.f = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 5))

    def forward(s, x):
        return s.f(x)


d = DistillableViT(image_size=32, patch_size=8, num_classes=5, dim=32, depth=1, heads=2, mlp_dim=32)
w = DistillWrapper(student=d, teacher=Teacher(), temperature=3, alpha=0.5, hard=False)
l = w(x, torch.tensor([0, 1, 2]))
l.backward()
print("distill", l.item())
e = Extractor(v)
lo, em = e(x)
print(lo.sum().item(), em.norm().item())
v3 = ViT3D(
    image_size=16, frames=4, image_patch_size=8, frame_patch_size=2, num_classes=5, dim=32, depth=1, heads=2, mlp_dim=32
)
print("3d", v3(torch.randn(2, 3, 4, 16, 16)).tolist())
vv = ViViT(
    image_size=16,
    frames=4,
    image_patch_size=8,
    frame_patch_size=2,
    num_classes=5,
    dim=32,
    spatial_depth=1,
    temporal_depth=1,
    heads=2,
    mlp_dim=32,
)
print("vivit", vv(torch.randn(2, 3, 4, 16, 16)).tolist())
n = NaViT(image_size=32, patch_size=8, num_classes=5, dim=32, depth=1, heads=2, mlp_dim=32, token_dropout_prob=0.0)
print("navit", n([[torch.randn(3, 32, 32), torch.randn(3, 16, 16)], [torch.randn(3, 16, 32)]]).tolist())
mv = MaxViT(
    num_classes=5,
    dim_conv_stem=8,
    dim=16,
    dim_head=8,
    depth=(1, 1),
    window_size=4,
    mbconv_expansion_rate=2,
    mbconv_shrinkage_rate=0.25,
    dropout=0.0,
)
mv.eval()
print("max", mv(torch.randn(2, 3, 32, 32)).tolist())
