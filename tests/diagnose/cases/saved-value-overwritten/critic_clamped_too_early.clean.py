"""Legitimate twin: the weights are clamped through .data after step(), where the method puts it."""
import torch
from torch import nn

torch.manual_seed(74)

critic = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
generator = nn.Sequential(nn.Linear(3, 24), nn.LeakyReLU(0.2), nn.Linear(24, 2))
c_opt = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
g_opt = torch.optim.RMSprop(generator.parameters(), lr=1e-3)


def clamp_weights(limit=0.05):
    for p in critic.parameters():
        p.data.clamp_(-limit, limit)


def critic_step(real):
    with torch.no_grad():
        fake = generator(torch.randn(len(real), 3))
    both = critic(torch.cat([real, fake]))
    loss = both[len(real):].mean() - both[:len(real)].mean()
    c_opt.zero_grad()
    loss.backward()
    c_opt.step()
    clamp_weights()
    return loss.item()


def generator_step(n):
    g_opt.zero_grad()
    loss = -critic(generator(torch.randn(n, 3))).mean()
    loss.backward()
    g_opt.step()
    return loss.item()


for it in range(30):
    for _ in range(2):
        c = critic_step(torch.randn(32, 2) * 0.2 + 1.0)
    g = generator_step(32)
print(f"critic {c:.5f} generator {g:.5f}")
