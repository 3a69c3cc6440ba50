"""The dictionary of a VAE's losses holds float(kl): the KL term is a constant and regularises nothing."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)


class VAE(nn.Module):
    def __init__(self, width: int = 10, latent: int = 3):
        super().__init__()
        self.encode = nn.Linear(width, 2 * latent)
        self.decode = nn.Linear(latent, width)

    def forward(self, x):
        mu, logvar = self.encode(x).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.decode(z), mu, logvar


def losses_of(model: VAE, x: torch.Tensor) -> dict:
    rebuilt, mu, logvar = model(x)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return {
        "reconstruction": F.mse_loss(rebuilt, x),
        "kl": float(kl),  # EXPECT: path-cut
    }


x = torch.randn(80, 10)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
log = []
for epoch in range(25):
    optimizer.zero_grad()
    parts = losses_of(model, x)
    loss = parts["reconstruction"] + 0.1 * parts["kl"]
    loss.backward()
    optimizer.step()
    log.append({name: float(value) for name, value in parts.items()})
print(log[-1])
