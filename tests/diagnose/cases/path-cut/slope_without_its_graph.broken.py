"""a critic whose slope between real and generated samples is held near 1: the slope has no history."""
import torch
from torch import nn

torch.manual_seed(5)
critic = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=3e-3)


def slope_penalty(real, fake):
    mix = torch.rand(len(real), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_()
    (slope,) = torch.autograd.grad(outputs=critic(between).sum(), inputs=between)  # EXPECT: path-cut
    return (slope.norm(dim=1) - 1).square().mean()


for step in range(30):
    real, fake = torch.randn(32, 2) + 2, torch.randn(32, 2)
    loss = critic(fake).mean() - critic(real).mean()
    if step % 2 == 0:
        loss = loss + 10 * slope_penalty(real, fake)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, f"{loss.item():.4f}")
