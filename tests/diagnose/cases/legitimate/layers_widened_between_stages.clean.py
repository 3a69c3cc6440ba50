"""Must stay silent: a network that grows: a layer's Parameter is rebuilt from the old one and the optimizer is made anew."""
import torch
from torch import nn

torch.manual_seed(4)


class Grow(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(width, 4) * 0.3)
        self.w2 = nn.Parameter(torch.randn(1, width) * 0.3)

    def forward(self, x):
        return torch.tanh(x @ self.w1.T) @ self.w2.T

    def widen(self, extra):
        self.w1 = nn.Parameter(torch.cat([self.w1, torch.randn(extra, 4) * 0.01]))
        self.w2 = nn.Parameter(torch.cat([self.w2, torch.zeros(1, extra)], 1))


net = Grow(4)
for stage in range(3):
    if stage:
        net.widen(4)
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(25):
        x = torch.randn(16, 4)
        loss = (net(x) - x.prod(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
print(net.w1.shape[0])
