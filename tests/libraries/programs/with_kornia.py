"""kornia: filters, geometry, colours and augmentation, with gradients."""

import kornia
import torch

torch.manual_seed(0)
image = torch.rand(2, 3, 24, 24, requires_grad=True)
blurred = kornia.filters.gaussian_blur2d(image, (5, 5), (1.5, 1.5))
edges = kornia.filters.sobel(blurred)
print(blurred.mean().item(), edges.mean().item(), kornia.filters.canny(image)[0].mean().item())
print(kornia.color.rgb_to_grayscale(image).std().item(), kornia.color.rgb_to_hsv(image).sum().item())
turned = kornia.geometry.rotate(image, torch.tensor([30.0, -15.0]))
warp = torch.eye(3).repeat(2, 1, 1)
warp[:, 0, 2] = 2.0
moved = kornia.geometry.warp_perspective(image, warp, (24, 24))
print(turned.mean().item(), moved.mean().item(), kornia.metrics.psnr(image, blurred, 1.0).item())
loss = kornia.losses.ssim_loss(blurred, turned, 5) + edges.mean() + kornia.losses.total_variation(moved).mean() * 1e-3
loss.backward()
print(loss.item(), image.grad.norm().item())
points = torch.rand(1, 6, 2)
homography = kornia.geometry.find_homography_dlt(points, points * 2 + 0.1)
print(homography[0, 0, 0].item(), homography[0, 0, 2].item())
augment = torch.nn.Sequential(kornia.augmentation.RandomHorizontalFlip(p=0.5), kornia.augmentation.Normalize(0.5, 0.25))
print(augment(image.detach()).mean().item())
