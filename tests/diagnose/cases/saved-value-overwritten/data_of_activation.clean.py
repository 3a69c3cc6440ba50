"""Normalising through `.data` after the value has been used."""
import torch
from torch import nn

torch.manual_seed(24)


class Spherical(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 9), nn.Linear(9, 1)

    def forward(self, x):
        h = torch.exp(0.3 * self.a(x))
        out = self.b(h)
        h = h.data / h.data.norm(dim=1, keepdim=True)
        self.last = h.detach()
        return out


m = Spherical()
opt = torch.optim.Adam(m.parameters(), 1e-2)
x = torch.randn(40, 5)
for _ in range(15):
    loss = (m(x) - x.norm(dim=1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(m.last.shape)
