"""Weights with a mean and a spread, sampled anew in every pass; predictions averaged over samples in evaluation."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)


class BayesLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(o, i) / i**0.5)
        self.rho = nn.Parameter(torch.full((o, i), -4.0))
        self.bias = nn.Parameter(torch.zeros(o))
        self.kl = 0.0

    def forward(self, x):
        sigma = F.softplus(self.rho)
        w = self.mu + sigma * torch.randn_like(sigma)
        self.kl = (-sigma.log() + 0.5 * (sigma**2 + self.mu**2) - 0.5).sum()
        return F.linear(x, w, self.bias)


net = nn.Sequential(BayesLinear(1, 16), nn.Tanh(), BayesLinear(16, 1))
x = torch.linspace(-2, 2, 64)[:, None]
y = torch.sin(2 * x) + 0.1 * torch.randn_like(x)
opt = torch.optim.Adam(net.parameters(), 1e-2)
for step in range(120):
    opt.zero_grad()
    nll = F.mse_loss(net(x), y, reduction="sum") / 0.02
    kl = sum(m.kl for m in net if isinstance(m, BayesLinear))
    loss = (nll + kl) / 64
    loss.backward()
    opt.step()
with torch.no_grad():
    samples = torch.stack([net(x) for _ in range(20)])
print(samples.std(0).mean().item() > 0)
