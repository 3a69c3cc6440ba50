"""Legitimate twin: the output is squeezed; an energy distance compares all pairs, and says so."""
import torch
from torch import nn

torch.manual_seed(61)


class Solution(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, t):
        return self.net(t.unsqueeze(1)).squeeze(1)


model = Solution()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(40):
    t = torch.rand(20).requires_grad_()
    u = model(t)
    slope = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    residual = u - torch.cos(3 * t)
    seen = torch.cos(3 * torch.rand(20))
    spread = (u[:, None] - seen).abs().mean() - 0.5 * (u[:, None] - u).abs().mean()
    loss = residual.square().mean() + 1e-4 * slope.square().mean() + 0.1 * spread
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
