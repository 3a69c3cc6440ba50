"""Must stay silent: a normalising flow of affine coupling layers, with buffers as masks and a data-dependent scale."""

import math

import torch
from torch import nn

torch.manual_seed(50)


class Coupling(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 4))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        scale, shift = self.net(x * self.mask).chunk(2, dim=1)
        scale = torch.tanh(scale) * (1 - self.mask)
        return x * scale.exp() + shift * (1 - self.mask), scale.sum(1)

    @torch.no_grad()
    def inverse(self, y):
        scale, shift = self.net(y * self.mask).chunk(2, dim=1)
        scale = torch.tanh(scale) * (1 - self.mask)
        return (y - shift * (1 - self.mask)) * (-scale).exp()


class Flow(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        masks = [torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])]
        self.layers = nn.ModuleList(Coupling(masks[i % 2]) for i in range(depth))

    def log_prob(self, x):
        total = torch.zeros(len(x))
        for layer in self.layers:
            x, log_det = layer(x)
            total = total + log_det
        return total - 0.5 * x.pow(2).sum(1) - math.log(2 * math.pi)

    def sample(self, count):
        z = torch.randn(count, 2)
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


angle = torch.rand(256) * math.pi
data = torch.stack([angle.cos(), angle.sin()], 1) + 0.1 * torch.randn(256, 2)
flow = Flow()
optimizer = torch.optim.Adam(flow.parameters(), lr=5e-3)
for step in range(40):
    loss = -flow.log_prob(data[torch.randint(0, 256, (64,))]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item(), flow.sample(3).shape)
