"""Mixture weights pass through a property that goes by way of NumPy."""
import torch
from torch import nn

torch.manual_seed(14)


class Mixture(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.raw = nn.Parameter(torch.zeros(k))
        self.parts = nn.ModuleList(nn.Linear(3, 1) for _ in range(k))

    @property
    def weights(self):
        w = torch.softmax(self.raw, 0)
        return w

    def forward(self, x):
        return sum(w * part(x) for w, part in zip(self.weights, self.parts))


m = Mixture(4)
o = torch.optim.Adam(m.parameters(), 1e-2)
x = torch.randn(80, 3)
for _ in range(30):
    loss = (m(x) - x.prod(1, keepdim=True)).pow(2).mean()
    o.zero_grad()
    loss.backward()
    o.step()
print(m.raw.shape)
