"""The other branch of a where has a log of a negative number."""
import torch
from torch import nn

torch.manual_seed(54)


class SoftLog(torch.nn.Module):
    def forward(self, x):
        return torch.where(x > 0.1, torch.log(x), 10 * x - 3.3)  # EXPECT: non-finite-backward


net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1), SoftLog())
nn.init.ones_(net[2].weight)
nn.init.zeros_(net[2].bias)
nn.init.zeros_(net[0].bias)
opt = torch.optim.Adam(net.parameters(), 1e-3)
x = torch.randn(20, 3)
x[:3] = 0
for _ in range(4):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.shape)
