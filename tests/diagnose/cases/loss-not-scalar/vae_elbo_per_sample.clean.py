"""Legitimate twin: the ELBO is averaged; the all-ones gradient is the scalar 1 that backward() would have taken itself."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(21)


class VAE(nn.Module):
    def __init__(self, data=12, latent=3):
        super().__init__()
        self.encoder = nn.Linear(data, 24)
        self.mu, self.logvar = nn.Linear(24, latent), nn.Linear(24, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, 24), nn.Tanh(), nn.Linear(24, data))

    def forward(self, x):
        h = torch.tanh(self.encoder(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.decoder(z), mu, logvar


def negative_elbo(x, recon, mu, logvar):
    rec = F.mse_loss(recon, x, reduction="none").sum(1)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1)
    return (rec + 0.1 * kl).mean()


data = torch.randn(240, 2) @ torch.randn(2, 12)
vae = VAE()
opt = torch.optim.SGD(vae.parameters(), lr=2e-3, momentum=0.5)
for epoch in range(5):
    for batch in data[torch.randperm(240)].split(24):
        elbo = negative_elbo(batch, *vae(batch))
        opt.zero_grad()
        elbo.backward(gradient=torch.ones(()))
        opt.step()
    print("epoch", epoch, round(elbo.mean().item(), 3))
