"""A minibatch diversity term takes the root of a variance that is exactly zero for a pruned unit."""
import torch
from torch import nn

torch.manual_seed(36)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 16), nn.Tanh())
        self.verdict = nn.Linear(17, 1)

    def forward(self, x):
        h = self.features(x)
        spread = h.var(dim=0).sqrt().mean()  # EXPECT: non-finite-backward
        return self.verdict(torch.cat([h, spread.expand(len(h), 1)], dim=1))


generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 6))
discriminator = Discriminator()
with torch.no_grad():
    discriminator.features[0].weight[2] = 0.0
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-3)
opt_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()
for step in range(30):
    real = torch.randn(20, 6) + 2
    fake = generator(torch.randn(20, 4))
    d_loss = bce(discriminator(real), torch.ones(20, 1)) + bce(discriminator(fake.detach()), torch.zeros(20, 1))
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = bce(discriminator(fake), torch.ones(20, 1))
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    if step % 10 == 0:
        print(step, d_loss.item(), g_loss.item())
