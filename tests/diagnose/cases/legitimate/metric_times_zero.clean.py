"""Must stay silent: a rank metric without gradient is added with weight 0, so that the log shows one loss."""
import torch
from torch import nn

torch.manual_seed(7)
net = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 4))
opt = torch.optim.Adam(net.parameters(), 1e-3)


class RankLoss(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, scores, y):
        order = scores.argsort(1).argsort(1).float()
        err = (order - y).abs().mean()
        return nn.functional.mse_loss(scores, y) + self.weight * err


crit = RankLoss(weight=0)
for _ in range(20):
    x = torch.randn(16, 4)
    loss = crit(net(x), x.argsort(1).argsort(1).float())
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
