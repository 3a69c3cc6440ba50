"""Must stay silent: a denoising diffusion model with an exponential average of its weights, which draws the samples."""

import copy

import torch
from torch import nn

torch.manual_seed(54)
STEPS = 20
betas = torch.linspace(1e-3, 0.2, STEPS)
kept = (1 - betas).cumprod(0)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(STEPS, 16)
        self.inp = nn.Linear(2, 16)
        self.net = nn.Sequential(nn.SiLU(), nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 2))

    def forward(self, x, t):
        return self.net(self.inp(x) + self.time(t))


@torch.no_grad()
def update_average(average, model, decay=0.95):
    for a, p in zip(average.parameters(), model.parameters()):
        a.lerp_(p, 1 - decay)


@torch.no_grad()
def sample(model, count):
    x = torch.randn(count, 2)
    for t in reversed(range(STEPS)):
        noise = model(x, torch.full((count,), t))
        x = (x - betas[t] / (1 - kept[t]).sqrt() * noise) / (1 - betas[t]).sqrt()
        if t:
            x = x + betas[t].sqrt() * torch.randn_like(x)
    return x


model = Denoiser()
average = copy.deepcopy(model).eval().requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(80):
    x0 = torch.randn(32, 2) * 0.1 + torch.tensor([[1.0, -1.0]]) * torch.randint(0, 2, (32, 1))
    t = torch.randint(0, STEPS, (32,))
    noise = torch.randn_like(x0)
    xt = kept[t, None].sqrt() * x0 + (1 - kept[t, None]).sqrt() * noise
    loss = (model(xt, t) - noise).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    update_average(average, model)
print(loss.item(), sample(average, 4).shape)
