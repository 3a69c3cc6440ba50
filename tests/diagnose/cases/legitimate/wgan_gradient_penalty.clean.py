"""Must stay silent: WGAN-GP differentiates a gradient (create_graph=True) inside the critic's loss."""
import torch
from torch import nn
from torch import autograd

torch.manual_seed(105)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 24), nn.SiLU(), nn.Linear(24, 24), nn.SiLU(), nn.Linear(24, 1))

    def forward(self, x):
        return self.net(x)


def gradient_penalty(critic, real, fake):
    alpha = torch.rand(len(real), 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    score = critic(mixed)
    slope = autograd.grad(score, mixed, grad_outputs=torch.ones_like(score), create_graph=True, retain_graph=True)[0]
    return ((slope.norm(2, dim=1) - 1) ** 2).mean()


critic = Critic()
generator = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 3))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.9))
for step in range(40):
    real = torch.randn(24, 3) + 1.5
    fake = generator(torch.randn(24, 5)).detach()
    loss_c = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(critic, real, fake)
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()
    if step % 4 == 3:
        opt_g.zero_grad()
        loss_g = -critic(generator(torch.randn(24, 5))).mean()
        loss_g.backward()
        opt_g.step()
        print(step, round(loss_c.item(), 4), round(loss_g.item(), 4))
