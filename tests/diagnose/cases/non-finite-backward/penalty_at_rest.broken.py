"""A gradient penalty takes the norm of a gradient that becomes exactly zero after hundreds of steps."""
import torch
from torch import nn

torch.manual_seed(38)

critic = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-4)


def penalty(points):
    points = points.clone().requires_grad_()
    (slope,) = torch.autograd.grad(critic(points).sum(), points, create_graph=True)
    length = slope.pow(2).sum(1).sqrt()  # EXPECT: non-finite-backward
    return (length - 1).pow(2).mean()


for step in range(420):
    real, fake = torch.randn(12, 3) + 1, torch.randn(12, 3) - 1
    mixed = 0.5 * (real + fake)
    if step == 333:
        with torch.no_grad():
            critic[0].bias -= 100.0
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(mixed)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
