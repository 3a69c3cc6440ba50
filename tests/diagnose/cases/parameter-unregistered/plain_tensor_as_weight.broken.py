"""the gain is a plain tensor that requires a gradient: it gets one and is not registered. (The points are data.)"""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(87)


class Scaled(nn.Module):
    def __init__(self, points):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh())
        self.gain = torch.ones(16, requires_grad=True)  # EXPECT: parameter-unregistered
        self.out = nn.Linear(16, 1)
        self.points = points

    def forward(self, x):
        return self.out(self.gain * self.body(x))

    def residual(self):
        u = self(self.points)
        slope = torch.autograd.grad(u.sum(), self.points, create_graph=True)[0]
        return (slope + u - torch.sin(3 * self.points)).pow(2).mean()


model = Scaled(torch.linspace(0, 2, 40).unsqueeze(1).requires_grad_())
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)  # MAY: parameter-not-optimized
for step in range(50):
    optimizer.zero_grad()
    loss = model.residual() + (model(torch.zeros(1, 1)) - 1).pow(2).sum()
    loss.backward()
    optimizer.step()
print("loss", loss.item(), "gain", model.gain[:3].tolist())
