"""The same with the tensor."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(43)


class VAE(nn.Module):
    def __init__(self, d=10, z=3):
        super().__init__()
        self.enc, self.mu, self.lv, self.dec = nn.Linear(d, 16), nn.Linear(16, z), nn.Linear(16, z), nn.Linear(z, d)

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, lv = self.mu(h), self.lv(h)
        z = mu + torch.randn_like(mu) * (0.5 * lv).exp()
        return self.dec(z), mu, lv


def kl(mu, lv):
    return -0.5 * (1 + lv - mu ** 2 - lv.exp()).sum(1).mean()


model = VAE()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(700):
    x = torch.randn(16, 3) @ torch.ones(3, 10) * 0.3
    rec, mu, lv = model(x)
    beta = 0.0 if step < 350 else min(1.0, (step - 350) / 200)
    loss = F.mse_loss(rec, x)
    if beta > 0:
        loss = loss + beta * kl(mu, lv)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
