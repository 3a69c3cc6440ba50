"""A Wasserstein GAN with gradient penalty learns a ring of eight blobs; the penalty needs derivatives of derivatives."""

import math

import clarion as torch
from clarion import nn, optim

BATCH, NOISE, CRITIC_STEPS, PENALTY = 128, 2, 3, 0.1
ANGLES = torch.arange(8) * (2 * math.pi / 8)
CENTRES = 2 * torch.stack([ANGLES.cos(), ANGLES.sin()], dim=1)


def real_points(n: int) -> torch.Tensor:
    return CENTRES[torch.randint(8, (n,))] + 0.1 * torch.randn(n, 2)


def network(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs))


def gradient_penalty(critic: nn.Module, real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
    """How far the critic's slope is from one, between real and generated points."""
    mix = torch.rand(len(real), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((slope.norm(dim=1) - 1) ** 2).mean()


def covered(points: torch.Tensor) -> tuple[int, float]:
    """How many blobs have points near them, and which part of the points is near one."""
    distance, nearest = torch.cdist(points, CENTRES).min(dim=1)
    close = distance < 0.5
    return len(nearest[close].unique()), close.float().mean().item()


def run(steps: int = 1600) -> list[float]:
    torch.manual_seed(0)
    generator, critic = network(NOISE, 2), network(2, 1)
    generator_optimizer = optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.9))
    critic_optimizer = optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.9))
    losses = []
    for step in range(1, steps + 1):
        for _ in range(CRITIC_STEPS):
            real = real_points(BATCH)
            with torch.no_grad():
                fake = generator(torch.randn(BATCH, NOISE))
            gap = critic(fake).mean() - critic(real).mean()
            penalty = gradient_penalty(critic, real, fake)
            loss = gap + PENALTY * penalty
            critic_optimizer.zero_grad()
            loss.backward()
            critic_optimizer.step()
        generator_loss = -critic(generator(torch.randn(BATCH, NOISE))).mean()
        generator_optimizer.zero_grad()
        generator_loss.backward()
        generator_optimizer.step()
        losses.append(loss.item())
        if step % 400 == 0:
            with torch.no_grad():
                blobs, near = covered(generator(torch.randn(1000, NOISE)))
            print(
                f"step {step:4}  distance {-gap.item():.3f}  penalty {penalty.item():.4f}"
                f"  blobs reached {blobs} of 8  points near one {near:.0%}"
            )
    return losses


if __name__ == "__main__":
    run()
