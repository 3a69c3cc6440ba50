"""kornia: some seventy functions of images, and their gradients."""

import kornia.color as KC
import kornia.enhance as KE
import kornia.feature as KFe
import kornia.filters as KF
import kornia.geometry as KG
import kornia.losses as KL
import kornia.metrics as KMe
import kornia.morphology as KM
import torch

torch.manual_seed(0)
x = torch.rand(2, 3, 32, 32, requires_grad=True)


def s(n, f):
    try:
        o = f()
        o = o[0] if isinstance(o, (tuple, list)) else o
        print(n, tuple(o.shape), o.double().sum().item())
    except Exception as e:
        print(
            n,
            "raises",
            type(e).__name__ if type(e).__module__ != "clarion.errors" else type(e).__mro__[1].__name__,
            str(e)[:40],
        )


for n, f in dict(
    gauss=lambda: KF.gaussian_blur2d(x, (5, 5), (1.5, 1.5)),
    sobel=lambda: KF.sobel(x),
    lap=lambda: KF.laplacian(x, 3),
    canny=lambda: KF.canny(x.detach())[1],
    median=lambda: KF.median_blur(x, (3, 3)),
    bilateral=lambda: KF.bilateral_blur(x, (3, 3), 0.1, (1.0, 1.0)),
    box=lambda: KF.box_blur(x, (3, 3)),
    motion=lambda: KF.motion_blur(x, 5, 30.0, 0.5),
    unsharp=lambda: KF.unsharp_mask(x, (3, 3), (1.0, 1.0)),
    guided=lambda: KF.guided_blur(x, x, 3, 0.1),
    dog=lambda: KF.gaussian_blur2d(x, 3, (1.0, 1.0)) - x,
    hsv=lambda: KC.rgb_to_hsv(x),
    lab=lambda: KC.rgb_to_lab(x),
    ycb=lambda: KC.rgb_to_ycbcr(x),
    gray=lambda: KC.rgb_to_grayscale(x),
    hls=lambda: KC.rgb_to_hls(x),
    luv=lambda: KC.rgb_to_luv(x),
    xyz=lambda: KC.rgb_to_xyz(x),
    yuv=lambda: KC.rgb_to_yuv(x),
    sep=lambda: KC.sepia(x),
    rot=lambda: KG.rotate(x, torch.tensor([30.0, -20.0])),
    res=lambda: KG.resize(x, (20, 24)),
    aff=lambda: KG.affine(x, torch.eye(2, 3).repeat(2, 1, 1)),
    warp=lambda: KG.warp_perspective(x, torch.eye(3).repeat(2, 1, 1) + 0.001, (32, 32)),
    shear=lambda: KG.shear(x, torch.tensor([[0.1, 0.2], [0.0, 0.1]])),
    pyr=lambda: KG.pyrdown(x),
    pyru=lambda: KG.pyrup(x),
    build=lambda: KG.build_pyramid(x, 3)[2],
    flip=lambda: KG.hflip(x),
    crop=lambda: KG.center_crop(x, (16, 16)),
    homog=lambda: KG.find_homography_dlt(torch.rand(1, 8, 2), torch.rand(1, 8, 2)),
    ell=lambda: KG.elastic_transform2d(x, torch.rand(2, 2, 32, 32) * 2 - 1),
    aa=lambda: KG.axis_angle_to_rotation_matrix(torch.rand(3, 3)),
    quat=lambda: KG.rotation_matrix_to_quaternion(KG.axis_angle_to_rotation_matrix(torch.rand(3, 3))),
    depth=lambda: KG.depth_to_3d(torch.rand(1, 1, 8, 8), torch.eye(3)[None]),
    har=lambda: KFe.harris_response(KC.rgb_to_grayscale(x)),
    gftt=lambda: KFe.gftt_response(KC.rgb_to_grayscale(x)),
    hess=lambda: KFe.hessian_response(KC.rgb_to_grayscale(x)),
    sift=lambda: KFe.SIFTDescriptor(16)(torch.rand(2, 1, 16, 16)),
    match=lambda: KFe.match_snn(torch.rand(9, 8), torch.rand(7, 8), 0.95)[0],
    dil=lambda: KM.dilation(x, torch.ones(3, 3)),
    ero=lambda: KM.erosion(x, torch.ones(3, 3)),
    opn=lambda: KM.opening(x, torch.ones(3, 3)),
    grd=lambda: KM.gradient(x, torch.ones(3, 3)),
    top=lambda: KM.top_hat(x, torch.ones(3, 3)),
    ssim=lambda: KMe.ssim(x, x * 0.9, 5),
    psnr=lambda: KMe.psnr(x, x * 0.9, 1.0),
    iou=lambda: KMe.mean_iou(torch.randint(3, (2, 8, 8)), torch.randint(3, (2, 8, 8)), 3),
    focal=lambda: KL.focal_loss(torch.randn(2, 4, 8, 8), torch.randint(4, (2, 8, 8)), 0.5, 2.0, "mean"),
    dice=lambda: KL.dice_loss(torch.randn(2, 4, 8, 8), torch.randint(4, (2, 8, 8))),
    tver=lambda: KL.tversky_loss(torch.randn(2, 4, 8, 8), torch.randint(4, (2, 8, 8)), 0.5, 0.5),
    tv=lambda: KL.total_variation(x),
    ssl=lambda: KL.ssim_loss(x, x * 0.8, 5),
    invd=lambda: KL.inverse_depth_smoothness_loss(x[:, :1], x),
    lov=lambda: KL.lovasz_softmax_loss(torch.randn(2, 4, 8, 8), torch.randint(4, (2, 8, 8))),
    char=lambda: KL.charbonnier_loss(x, x * 0.9, "mean"),
    haus=lambda: KL.HausdorffERLoss()(torch.randn(1, 3, 8, 8), torch.randint(3, (1, 1, 8, 8))),
    bright=lambda: KE.adjust_brightness(x, 0.2),
    contr=lambda: KE.adjust_contrast(x, 1.2),
    hue=lambda: KE.adjust_hue(x, 0.3),
    sat=lambda: KE.adjust_saturation(x, 1.5),
    gam=lambda: KE.adjust_gamma(x, 0.7),
    eq=lambda: KE.equalize(x.detach()),
    clahe=lambda: KE.equalize_clahe(x.detach(), grid_size=(4, 4)),
    norm=lambda: KE.normalize(x, torch.tensor([0.5] * 3), torch.tensor([0.2] * 3)),
    post=lambda: KE.posterize(x.detach(), 3),
    sol=lambda: KE.solarize(x.detach(), 0.5),
    hist=lambda: KE.histogram(x[0, :1].flatten(1), torch.linspace(0, 1, 8), torch.tensor(0.1)),
    zca=lambda: KE.zca_whiten(torch.rand(20, 5)),
    jpeg=lambda: KE.jpeg_codec_differentiable(x, torch.tensor([50.0, 80.0])),
    inv=lambda: KE.invert(x),
).items():
    s(n, f)
l = (
    KF.gaussian_blur2d(x, (5, 5), (1.5, 1.5)).mean()
    + KC.rgb_to_lab(x).mean()
    + KG.rotate(x, torch.tensor(10.0)).sum() * 0.01
)
l.backward()
print("g", x.grad.norm().item())
