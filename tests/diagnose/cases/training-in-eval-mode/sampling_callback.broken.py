"""A callback that draws samples from the generator leaves it in eval mode."""
import torch
from torch import nn

torch.manual_seed(39)


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
        self.dec = nn.Sequential(nn.Linear(2, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8))

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar

    @torch.no_grad()
    def sample(self, n):
        self.dec.eval()  # EXPECT: training-in-eval-mode
        out = self.dec(torch.randn(n, 2))
        return out


vae = Vae()
opt = torch.optim.Adam(vae.parameters(), 2e-3)
data = torch.randn(256, 8)
for epoch in range(6):
    for xb in data.split(32):
        rec, mu, logvar = vae(xb)
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
        loss = (rec - xb).pow(2).sum(1).mean() + 0.1 * kl
        opt.zero_grad()
        loss.backward()
        opt.step()
    grid = vae.sample(4)
print(grid.shape)
