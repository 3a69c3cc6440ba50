"""A VAE keeps its KL terms for a plot after training, each with its graph (neuromancer PR#292)."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)


class VAE(nn.Module):
    def __init__(self, width=20, latent=3):
        super().__init__()
        self.encoder = nn.Linear(width, 16)
        self.mu, self.log_var = nn.Linear(16, latent), nn.Linear(16, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, 16), nn.ReLU(), nn.Linear(16, width))

    def forward(self, x):
        h = torch.relu(self.encoder(x))
        mu, log_var = self.mu(h), self.log_var(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * log_var)
        return self.decoder(z), mu, log_var


def divergence(mu, log_var):
    return -0.5 * (1 + log_var - mu.pow(2) - log_var.exp()).sum(1).mean()  # EXPECT: graphs-accumulate


data = torch.rand(240, 3) @ torch.rand(3, 20)
vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.5)
log = {"reconstruction": [], "kl": []}
for step in range(48):
    batch = data[torch.randint(0, len(data), (32,))]
    decoded, mu, log_var = vae(batch)
    reconstruction = F.mse_loss(decoded, batch, reduction="sum") / len(batch)
    kl = divergence(mu, log_var)
    (reconstruction + 0.5 * kl).backward()
    optimizer.step()
    optimizer.zero_grad()
    scheduler.step()
    log["reconstruction"].append(reconstruction.item())
    log["kl"].append(kl)
print("kl", [round(float(value), 3) for value in log["kl"][::12]])
