"""a learned temperature read as a number."""
import math
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(16)


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(12, 8), nn.Linear(10, 8)
        self.log_scale = nn.Parameter(torch.tensor(math.log(5.0)))

    def forward(self, i, t):
        a, b = F.normalize(self.image(i), dim=1), F.normalize(self.text(t), dim=1)
        scale = math.exp(self.log_scale)  # EXPECT: path-cut
        return scale * a @ b.T


net = Clip()
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)  # MAY: parameter-not-optimized
for _ in range(40):
    z = torch.randn(16, 10)
    logits = net(torch.cat([z, z[:, :2]], 1), z)
    y = torch.arange(16)
    loss = (F.cross_entropy(logits, y) + F.cross_entropy(logits.T, y)) / 2
    opt.zero_grad()
    loss.backward()
    opt.step()
print("aligned")
