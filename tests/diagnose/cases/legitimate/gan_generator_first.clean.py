"""Must stay silent: the generator goes first, and what its loss left in the discriminator is cleared each time."""
import torch
from torch import nn

torch.manual_seed(102)
generator = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 3))
discriminator = nn.Sequential(nn.Linear(3, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1), nn.Sigmoid())
optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
adversarial_loss = nn.BCELoss()
for step in range(60):
    real = torch.randn(32, 3) * 0.5 + torch.tensor([1.0, -1.0, 0.5])
    valid, fake = torch.ones(32, 1), torch.zeros(32, 1)

    optimizer_G.zero_grad()
    generated = generator(torch.randn(32, 5))
    g_loss = adversarial_loss(discriminator(generated), valid)
    g_loss.backward()
    optimizer_G.step()

    optimizer_D.zero_grad()
    d_loss = (adversarial_loss(discriminator(real), valid)
              + adversarial_loss(discriminator(generated.detach()), fake)) / 2
    d_loss.backward()
    optimizer_D.step()
    if step % 20 == 19:
        print(step, round(g_loss.item(), 4), round(d_loss.item(), 4))
