"""Legitimate twin: one forward of the generator serves both, the discriminator gets it detached."""
import torch
from torch import nn

torch.manual_seed(77)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 10))

    def forward(self, z):
        return torch.tanh(self.net(z))


generator = Generator()
discriminator = nn.Sequential(nn.Linear(10, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opts = {
    "g": torch.optim.Adam(generator.parameters(), lr=1e-3),
    "d": torch.optim.Adam(discriminator.parameters(), lr=1e-3),
}
bce = nn.BCEWithLogitsLoss()
real_label, fake_label = torch.ones(20, 1), torch.zeros(20, 1)
for it in range(40):
    real = torch.sin(torch.linspace(0, 3, 10) + torch.rand(20, 1))
    fake = generator(torch.randn(20, 4))
    opts["d"].zero_grad()
    d_loss = bce(discriminator(real), real_label) + bce(discriminator(fake.detach()), fake_label)
    d_loss.backward()
    opts["d"].step()
    opts["g"].zero_grad()
    g_loss = bce(discriminator(fake), real_label)
    g_loss.backward()
    opts["g"].step()
print(f"d {d_loss.item():.4f} g {g_loss.item():.4f}")
