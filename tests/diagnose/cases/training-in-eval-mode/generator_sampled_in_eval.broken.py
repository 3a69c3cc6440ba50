"""a GAN's sample() puts the generator into eval mode for a nicer picture and forgets to take it out again."""
import torch
from torch import nn

torch.manual_seed(14)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 2))

    def forward(self, z):
        return self.net(z)

    @torch.no_grad()
    def sample(self, n):
        self.eval()  # EXPECT: training-in-eval-mode
        return self(torch.randn(n, 4))


G = Generator()
D = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.9))
bce = nn.BCEWithLogitsLoss()
for step in range(60):
    angle = 6.28 * torch.rand(32)
    real = torch.stack([angle.cos(), angle.sin()], 1)
    fake = G(torch.randn(32, 4))
    opt_d.zero_grad()
    d_loss = bce(D(real), torch.ones(32, 1)) + bce(D(fake.detach()), torch.zeros(32, 1))
    d_loss.backward()
    opt_d.step()
    opt_g.zero_grad()
    g_loss = bce(D(fake), torch.ones(32, 1))
    g_loss.backward()
    opt_g.step()  # ALSO: training-in-eval-mode
    if step % 20 == 10:
        print("step", step, "radius", G.sample(64).norm(dim=1).mean().item())
