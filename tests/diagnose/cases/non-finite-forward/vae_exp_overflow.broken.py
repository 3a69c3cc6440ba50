"""Pixels in 0..255 make the encoder's log-variance huge, and its exp() overflows to inf."""
import torch
from torch import nn

torch.manual_seed(22)


class VAE(nn.Module):
    def __init__(self, n=10, latent=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n, 24), nn.ReLU())
        self.mu = nn.Linear(24, latent)
        self.logvar = nn.Linear(24, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, 24), nn.ReLU(), nn.Linear(24, n))

    def reparameterize(self, mu, logvar):
        variance = logvar.exp()  # EXPECT: non-finite-forward
        return mu + torch.randn_like(mu) * variance.sqrt(), variance

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z, variance = self.reparameterize(mu, logvar)
        return self.decoder(z), mu, logvar, variance


def elbo(recon, x, mu, logvar, variance):
    mse = ((recon - x) ** 2).sum(1).mean()
    kl = -0.5 * (1 + logvar - mu.pow(2) - variance).sum(1).mean()
    return mse + 0.1 * kl


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
data = torch.randint(0, 256, (128, 10)).float() * 2
for step in range(60):
    x = data[torch.randint(0, 128, (32,))]
    recon, mu, logvar, variance = model(x)
    loss = elbo(recon, x, mu, logvar, variance)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, loss.item())
