"""Must stay silent: an image-to-image net with a fixed random perceptual network, not frozen explicitly."""
import torch
from torch import nn

torch.manual_seed(1)
net = nn.Conv2d(3, 3, 3, padding=1)
judge = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(40):
    x = torch.rand(2, 3, 10, 10)
    loss = (judge(net(x)) - judge(x.flip(3))).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("painted")
