"""a small VAE on synthetic bumps, with a trainer class."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class VAE(nn.Module):
    def __init__(self, d=20, z=3):
        super().__init__()
        self.enc = nn.Linear(d, 32)
        self.mu = nn.Linear(32, z)
        self.logvar = nn.Linear(32, z)
        self.dec = nn.Sequential(nn.Linear(z, 32), nn.ReLU(), nn.Linear(32, d))

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


class Trainer:
    def __init__(self, model, lr=1e-3):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.history = {"rec": [], "kl": []}

    def losses(self, x):
        out, mu, logvar = self.model(x)
        rec = F.mse_loss(out, x, reduction="sum") / len(x)
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum() / len(x)
        return rec, kl.item()  # EXPECT: path-cut

    def fit(self, loader, epochs):
        for _ in range(epochs):
            for (x,) in loader:
                rec, kl = self.losses(x)
                loss = rec + 0.5 * kl
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                self.opt.step()
                self.history["rec"].append(rec.item())
                self.history["kl"].append(kl)


t = torch.linspace(-1, 1, 20)
data = torch.exp(-((t - torch.rand(256, 1)) ** 2) * 8)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(data), batch_size=32, shuffle=True)
trainer = Trainer(VAE())
trainer.fit(loader, 6)
print(len(trainer.history["kl"]), round(trainer.history["rec"][-1], 2))
