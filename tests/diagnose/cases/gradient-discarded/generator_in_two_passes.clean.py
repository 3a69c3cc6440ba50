"""A generator step made of two backward passes; what it deposits into the discriminator is cleared before that one's turn."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
generator = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_opt = torch.optim.Adam(generator.parameters(), lr=1e-3)
d_opt = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
ones, zeros = torch.ones(32, 1), torch.zeros(32, 1)
for step in range(40):
    z, real = torch.randn(32, 3), torch.randn(32, 2) + 2.0
    d_opt.zero_grad()
    d_loss = F.binary_cross_entropy_with_logits(discriminator(real), ones)
    d_loss = d_loss + F.binary_cross_entropy_with_logits(discriminator(generator(z).detach()), zeros)
    d_loss.backward()
    d_opt.step()
    g_opt.zero_grad()
    fake = generator(z)
    F.binary_cross_entropy_with_logits(discriminator(fake), ones).backward(retain_graph=True)
    (fake.mean(0) - real.mean(0)).pow(2).sum().backward()
    g_opt.step()
print("done", step)
