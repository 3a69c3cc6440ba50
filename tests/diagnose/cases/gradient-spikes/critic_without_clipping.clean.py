"""Legitimate twin: the same critic with weight clipping; two optimizers, five critic steps per generator step."""
import torch
from torch import nn

torch.manual_seed(54)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1, bias=False))

    def forward(self, x):
        return self.layers(x)


def critic_step(critic, generator, optimizer):
    real = torch.randn(32, 2) * 0.3 + torch.tensor([2.0, -1.0])
    with torch.no_grad():
        fake = generator(torch.randn(32, 4))
    loss = critic(fake).mean() - critic(real).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p in critic.parameters():
            p.clamp_(-0.1, 0.1)
    return loss.item()


generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = Critic()
opt_c = torch.optim.RMSprop(critic.parameters(), lr=5e-3)
opt_g = torch.optim.RMSprop(generator.parameters(), lr=1e-4)
for it in range(24):
    for _ in range(5):
        c_loss = critic_step(critic, generator, opt_c)
    g_loss = -critic(generator(torch.randn(32, 4))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    if it % 6 == 5:
        print(it, "critic", c_loss, "generator", g_loss.item())
