"""Twin: as a tensor."""
import torch
from torch import nn

torch.manual_seed(36)


class Spline(nn.Module):
    def __init__(self, knots=24):
        super().__init__()
        self.coef = nn.Parameter(torch.zeros(knots))
        self.register_buffer("grid", torch.linspace(0, 1, knots))

    def forward(self, t):
        basis = torch.exp(-((t[:, None] - self.grid) ** 2) * 200)
        return basis @ self.coef

    def roughness(self):
        d2 = self.coef[2:] - 2 * self.coef[1:-1] + self.coef[:-2]
        return d2.pow(2).sum()


t = torch.rand(150)
y = torch.sin(6 * t) + 0.3 * torch.randn(150)
model = Spline()
opt = torch.optim.Adam(model.parameters(), lr=0.05)
for it in range(80):
    fit = (model(t) - y).pow(2).mean()
    loss = fit + 0.5 * model.roughness()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("fit", round(fit.item(), 4), "total", round(loss.item(), 4))
