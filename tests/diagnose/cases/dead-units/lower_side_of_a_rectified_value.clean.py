"""The lower side of a two-sided threshold is taken of what is rectified already: nothing ever passes it."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(149)


class TwoSided(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.Linear(6, width), nn.Linear(2 * width, 2)

    def forward(self, x):
        h = self.first(x)
        above = torch.relu(h)
        below = torch.relu(-0.5 - h)
        return self.second(torch.cat([above, below], 1))


net = TwoSided(12)
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(150):
    x = torch.randn(24, 6)
    y = (x[:, 0].abs() > 0.7).long()
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("done")
