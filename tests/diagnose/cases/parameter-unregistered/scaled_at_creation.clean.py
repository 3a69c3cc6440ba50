"""Scaled first, and made a Parameter then."""
import torch
from torch import nn

torch.manual_seed(27)


class Mixer(nn.Module):
    def __init__(self, t, d):
        super().__init__()
        self.pos = nn.Parameter(torch.randn(t, d) * 0.02)
        self.out = nn.Linear(d, 1)

    def forward(self, x):
        return self.out((x + self.pos).tanh().mean(1))


model = Mixer(5, 8)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(10):
    loss = model(torch.randn(16, 5, 8)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("parameters", len(list(model.parameters())))
