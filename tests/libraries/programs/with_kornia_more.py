"""kornia: filters, colours, geometry, augmentation and losses."""

import kornia as K
import kornia.augmentation as A
import torch

torch.manual_seed(0)
x = torch.rand(2, 3, 32, 32, requires_grad=True)
for n, f in dict(
    blur=lambda: K.filters.gaussian_blur2d(x, (5, 5), (1.5, 1.5)),
    sobel=lambda: K.filters.sobel(x),
    canny=lambda: K.filters.canny(x)[0],
    med=lambda: K.filters.median_blur(x, (3, 3)),
    lap=lambda: K.filters.laplacian(x, 3),
    bil=lambda: K.filters.bilateral_blur(x, (3, 3), 0.1, (1.5, 1.5)),
    gray=lambda: K.color.rgb_to_grayscale(x),
    hsv=lambda: K.color.rgb_to_hsv(x),
    lab=lambda: K.color.rgb_to_lab(x),
    ycc=lambda: K.color.rgb_to_ycbcr(x),
    rot=lambda: K.geometry.rotate(x, torch.tensor([30.0, 45.0])),
    aff=lambda: K.geometry.affine(x, torch.eye(2, 3)[None].repeat(2, 1, 1)),
    warp=lambda: K.geometry.warp_perspective(x, torch.eye(3)[None].repeat(2, 1, 1), (16, 16)),
    rs=lambda: K.geometry.resize(x, (16, 20)),
    ssim=lambda: K.metrics.ssim(x, x * 0.9, 5),
    eq=lambda: K.enhance.equalize_clahe(x),
    jpg=lambda: K.enhance.adjust_gamma(x, 1.5),
    hist=lambda: K.enhance.adjust_contrast(x, 0.7),
    harris=lambda: K.feature.harris_response(x.mean(1, keepdim=True)),
    dil=lambda: K.morphology.dilation(x, torch.ones(3, 3)),
    ero=lambda: K.morphology.erosion(x, torch.ones(3, 3)),
    pyr=lambda: K.geometry.pyrdown(x),
    uns=lambda: K.filters.unsharp_mask(x, (3, 3), (1.0, 1.0)),
    crop=lambda: K.geometry.center_crop(x, (16, 16)),
    dct=lambda: K.filters.spatial_gradient(x),
).items():
    x.grad = None
    o = f()
    l = o.float().pow(2).mean()
    l.backward() if l.requires_grad else None
    print(n, tuple(o.shape), l.item(), None if x.grad is None else x.grad.norm().item())
for a in (
    A.RandomHorizontalFlip(p=0.5),
    A.RandomAffine(30.0, translate=(0.1, 0.1), p=1.0),
    A.ColorJitter(0.2, 0.2, 0.2, 0.1, p=1.0),
    A.RandomCrop((16, 16)),
    A.RandomErasing(p=1.0),
    A.RandomGaussianNoise(p=1.0),
    A.RandomPerspective(0.3, p=1.0),
    A.RandomResizedCrop((16, 16)),
    A.RandomRotation(45.0, p=1.0),
    A.RandomGrayscale(p=0.5),
    A.Normalize(torch.tensor([0.5, 0.5, 0.5]), torch.tensor([0.2, 0.2, 0.2])),
    A.RandomSolarize(p=1.0),
    A.RandomGaussianBlur((3, 3), (0.1, 2.0), p=1.0),
    A.RandomMixUpV2(p=1.0),
):
    torch.manual_seed(3)
    o = a(x.detach())
    print(type(a).__name__, tuple(o.shape), o.sum().item())
s = A.AugmentationSequential(A.RandomHorizontalFlip(p=1.0), A.RandomAffine(10.0, p=1.0), data_keys=["input", "mask"])
torch.manual_seed(1)
o = s(x.detach(), (x.detach()[:, :1] > 0.5).float())
print([t.sum().item() for t in o])
from kornia.losses import *

print(
    K.losses.ssim_loss(x, x * 0.9, 5).item(),
    K.losses.total_variation(x).sum().item(),
    K.losses.focal_loss(torch.randn(2, 3, 4, 4), torch.randint(0, 3, (2, 4, 4)), 0.5, reduction="mean").item(),
    K.losses.dice_loss(torch.randn(2, 3, 4, 4), torch.randint(0, 3, (2, 4, 4))).item(),
    K.losses.psnr_loss(x, x * 0.9, 1.0).item(),
)
p = torch.rand(4, 2)
h = K.geometry.get_perspective_transform(torch.rand(1, 4, 2), torch.rand(1, 4, 2))
print(h.sum().item(), K.geometry.transform_points(h, p[None]).sum().item())
q = K.geometry.conversions.axis_angle_to_quaternion(torch.tensor([[0.1, 0.2, 0.3]]))
print(q.tolist(), K.geometry.conversions.quaternion_to_rotation_matrix(q).sum().item())
H = K.geometry.find_homography_dlt(torch.rand(1, 8, 2), torch.rand(1, 8, 2))
print(H[0, 2, 2].item())
F_ = K.geometry.epipolar.find_fundamental(torch.rand(1, 8, 2), torch.rand(1, 8, 2), torch.ones(1, 8))
print(abs(F_).sum().item() > 0)
v = (
    K.contrib.VisionTransformer(image_size=32, patch_size=8, embed_dim=32, depth=1, num_heads=2)
    if hasattr(K, "contrib") and hasattr(K.contrib, "VisionTransformer")
    else None
)
