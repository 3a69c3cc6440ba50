"""A tiny U-Net with dice and cross entropy together."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2 = nn.Conv2d(1, 6, 3, padding=1), nn.Conv2d(6, 12, 3, padding=1)
        self.up = nn.ConvTranspose2d(12, 6, 2, stride=2)
        self.out = nn.Conv2d(12, 1, 3, padding=1)

    def forward(self, x):
        a = F.relu(self.d1(x))
        b = F.relu(self.d2(F.max_pool2d(a, 2)))
        return self.out(torch.cat([a, self.up(b)], 1))


def dice(logits, mask, eps=1.0):
    p = logits.sigmoid()
    inter = (p * mask).sum((1, 2, 3))
    return (1 - (2 * inter + eps) / (p.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + eps)).mean()


net = UNet()
opt = torch.optim.Adam(net.parameters(), 5e-3)
for step in range(30):
    mask = (F.avg_pool2d(torch.rand(4, 1, 16, 16), 5, 1, 2) > 0.5).float()
    x = mask + 0.5 * torch.randn_like(mask)
    logits = net(x)
    loss = F.binary_cross_entropy_with_logits(logits, mask) + dice(logits, mask)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    print(((net(x) > 0) == mask.bool()).float().mean().item() > 0.3)
