"""The learned noise level scales the likelihood as a float, and is added to it as a tensor."""
import torch
from torch import nn

torch.manual_seed(83)


class Noise(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_sigma = nn.Parameter(torch.zeros(()))


net, noise = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1)), Noise()
opt = torch.optim.Adam([*net.parameters(), *noise.parameters()], lr=5e-3)
for step in range(60):
    x = torch.randn(40, 3)
    y = x.prod(1, keepdim=True) + 0.3 * torch.randn(40, 1)
    precision = torch.exp(-2 * noise.log_sigma).item()  # EXPECT: path-cut
    nll = 0.5 * precision * (net(x) - y).square().mean() + noise.log_sigma
    opt.zero_grad()
    nll.backward()
    opt.step()
print("done")
