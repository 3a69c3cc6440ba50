"""A solver that keeps its stages in one buffer and writes the next slot through .data, beside the slot that was saved."""
import torch
from torch import nn

torch.manual_seed(8)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, t, y):
        return self.net(y)


def rk4(f, y, dt):
    k = torch.empty(*y.shape, 4)
    k1 = f(0, y)
    k = torch.cat([k1.unsqueeze(-1), torch.zeros(*y.shape, 3)], -1)
    for i, c in enumerate((0.5, 0.5, 1.0)):
        yi = y + dt * c * k[..., i] * 1.0
        ki = f(c, yi)
        k = k.clone()
        k[..., i + 1] = ki
    w = torch.tensor([1.0, 2.0, 2.0, 1.0]) / 6
    return y + dt * (k * w).sum(-1)


class Ring:
    """Saves slot i for a product, writes slot i + 1 without telling autograd."""

    def __init__(self, n, dim):
        self.store = torch.zeros(n, dim)

    def put(self, i, value):
        self.store.data[i] = value.detach()
        return self.store[i]


field = Field()
opt = torch.optim.Adam(field.parameters(), lr=1e-2)
ring = Ring(8, 2)
for it in range(40):
    y = torch.randn(12, 2)
    target = torch.stack([y[:, 1], -y[:, 0]], 1)
    total = 0.0
    for i in range(4):
        y = rk4(field, y, 0.25)
        ref = ring.put(i, y.mean(0))
        total = total + (y * ref).sum() * 1e-3
    loss = (y - target).square().mean() + total
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
