"""Must stay silent: an image is optimised by LBFGS against frozen features; the network's weights never change."""
import torch
from torch import nn

torch.manual_seed(172)
features = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.Tanh(), nn.Conv2d(6, 6, 3, padding=1), nn.Tanh()).eval()
for p in features.parameters():
    p.requires_grad_(False)


def gram(maps):
    flat = maps.flatten(2)
    return flat @ flat.transpose(1, 2) / flat.shape[2]


content = torch.rand(1, 1, 10, 10)
style = torch.sin(torch.arange(100.0) * 0.9).view(1, 1, 10, 10)
wanted_content, wanted_style = features(content), gram(features(style))
image = content.clone().requires_grad_(True)
optimizer = torch.optim.LBFGS([image], lr=0.5, max_iter=4)
for run in range(10):
    def closure():
        optimizer.zero_grad()
        maps = features(image)
        loss = nn.functional.mse_loss(maps, wanted_content) + 5 * nn.functional.mse_loss(gram(maps), wanted_style)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    with torch.no_grad():
        image.clamp_(0, 1)
print("loss", round(loss.item(), 6))
