"""torch.normal() draws a sample, through which no gradient passes."""
import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, d=12, z=3):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, 24), nn.Tanh())
        self.mu, self.logvar = nn.Linear(24, z), nn.Linear(24, z)
        self.dec = nn.Sequential(nn.Linear(z, 24), nn.Tanh(), nn.Linear(24, d))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = torch.normal(mu, torch.exp(0.5 * logvar))  # ALSO: gradient-vanishes
        return self.dec(z)


torch.manual_seed(0)
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=1e-3)
for i in range(60):
    x = torch.randn(32, 12)
    loss = nn.functional.mse_loss(vae(x), x)
    opt.zero_grad()
    loss.backward()  # EXPECT: gradient-vanishes
    opt.step()
print(loss.item())
