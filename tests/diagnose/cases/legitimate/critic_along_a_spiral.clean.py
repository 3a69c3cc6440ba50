"""a critic is held to slopes of one on samples of two numbers, along a spiral: many of its units go silent, one after another."""
import torch
from torch import nn

torch.manual_seed(4)
N = 48


class Critic(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(2, width), nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, x):
        return self.last(self.second(self.first(x).relu()).relu())


painter = nn.Sequential(nn.Linear(3, 20), nn.Tanh(), nn.Linear(20, 2))
critic = Critic(32)
of_painter = torch.optim.RMSprop(painter.parameters(), lr=5e-4)
of_critic = torch.optim.RMSprop(critic.parameters(), lr=1e-3)


def spiral():
    turn = torch.rand(N, 1)
    return turn * torch.cat([(9 * turn).sin(), (9 * turn).cos()], 1)


for round_ in range(60):
    for _ in range(4):
        real, fake = spiral(), painter(torch.randn(N, 3)).detach()
        between = torch.lerp(fake, real, torch.rand(N, 1)).requires_grad_()
        (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        of_critic.zero_grad()
        loss = (critic(fake) - critic(real)).mean() + 10 * (slope.norm(dim=1) - 1).pow(2).mean()
        loss.backward()
        of_critic.step()
    of_painter.zero_grad()
    (-critic(painter(torch.randn(N, 3)))).mean().backward()
    of_painter.step()
print(round(loss.item(), 3))
