"""The loss is a metric computed by NumPy and wrapped so that backward() no longer complains."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(7)


def dice_metric(prediction, mask):
    p = (prediction.detach().numpy() > 0.5).astype(np.float32)
    m = mask.numpy()
    return 1 - 2 * (p * m).sum() / (p.sum() + m.sum() + 1e-6)


def soft_dice(prediction, mask):
    return 1 - 2 * (prediction * mask).sum() / (prediction.sum() + mask.sum() + 1e-6)


net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 1), nn.Sigmoid())
opt = torch.optim.Adam(net.parameters())
img = torch.rand(6, 1, 12, 12)
mask = (img > 0.6).float()
for it in range(12):
    out = net(img)
    loss = torch.tensor(dice_metric(out, mask), requires_grad=True)  # EXPECT: loss-is-leaf
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.shape)
