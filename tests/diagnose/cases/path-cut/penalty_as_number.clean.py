"""Legitimate twin: the KL term stays a tensor; .item() feeds the log only."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(22)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(12, 16)
        self.stats = nn.Linear(16, 4)
        self.decode = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 12))

    def forward(self, x):
        mu, logvar = self.stats(torch.tanh(self.encode(x))).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * (logvar / 2).exp()
        return self.decode(z), mu, logvar


def loss_function(x, rebuilt, mu, logvar, beta=0.5):
    rebuild = F.mse_loss(rebuilt, x)
    kl = 0.5 * (mu.pow(2) + logvar.exp() - 1 - logvar).sum(1).mean()
    return rebuild + beta * kl, {"rebuild": rebuild.item(), "kl": kl.item()}


x = torch.randn(128, 2) @ torch.randn(2, 12)
model = VAE()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    for batch in x[torch.randperm(128)].split(16):
        opt.zero_grad()
        loss, log = loss_function(batch, *model(batch))
        loss.backward()
        opt.step()
    print(epoch, {k: round(v, 4) for k, v in log.items()})
