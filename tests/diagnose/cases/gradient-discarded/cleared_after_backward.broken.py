"""a VAE's loop clears between backward() and step(), so Adam never sees a gradient."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)


class VAE(nn.Module):
    def __init__(self, dim=16, latent=3):
        super().__init__()
        self.enc = nn.Linear(dim, 20)
        self.mu = nn.Linear(20, latent)
        self.logvar = nn.Linear(20, latent)
        self.dec = nn.Sequential(nn.Linear(latent, 20), nn.GELU(), nn.Linear(20, dim))

    def forward(self, x):
        h = F.gelu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.dec(z), mu, logvar


def elbo(x, rebuilt, mu, logvar):
    kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(1).mean()
    return F.mse_loss(rebuilt, x, reduction="sum") / len(x) + 0.1 * kl


vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=5e-3)
data = torch.randn(200, 4) @ torch.randn(4, 16)
for step in range(50):
    batch = data[torch.randint(0, 200, (32,))]
    loss = elbo(batch, *vae(batch))
    loss.backward()  # ALSO: gradient-discarded
    optimizer.zero_grad()  # EXPECT: gradient-discarded
    optimizer.step()  # MAY: step-without-gradient
    if step % 10 == 9:
        print(step, f"elbo {loss.item():.3f}")
