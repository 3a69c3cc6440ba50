"""homoscedastic loss weights live in the criterion, whose parameters nobody gave to the optimizer."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=3e-3)
args = parser.parse_args([])
torch.manual_seed(44)


class Weighted(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.log_var = nn.Parameter(torch.zeros(n))  # ALSO: parameter-not-optimized

    def forward(self, losses):
        return (torch.stack(losses) * torch.exp(-self.log_var) + self.log_var).sum()


net, criterion = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2)), Weighted(2)
opt = torch.optim.Adam(net.parameters(), lr=args.lr)  # EXPECT: parameter-not-optimized
for _ in range(30):
    x = torch.randn(32, 6)
    a, b = net(x).unbind(1)
    loss = criterion([F.mse_loss(a, x[:, 0]), F.l1_loss(b, x[:, 1])])
    opt.zero_grad()
    loss.backward()
    opt.step()
print("end")
