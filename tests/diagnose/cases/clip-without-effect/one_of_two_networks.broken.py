"""in a GAN the generator is clipped in order and the discriminator only after its step()."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(13)

gen = nn.Sequential(nn.Linear(4, 24), nn.LeakyReLU(0.2), nn.Linear(24, 2))
dis = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
g_opt = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.5, 0.9))
d_opt = torch.optim.Adam(dis.parameters(), lr=1e-3, betas=(0.5, 0.9))
ones, zeros = torch.ones(32, 1), torch.zeros(32, 1)


def real_batch():
    angle = torch.rand(32) * 6.283
    return torch.stack([angle.cos(), angle.sin()], 1)


def train_discriminator(fake):
    d_opt.zero_grad()
    loss = F.binary_cross_entropy_with_logits(dis(real_batch()), ones)
    loss = loss + F.binary_cross_entropy_with_logits(dis(fake.detach()), zeros)
    loss.backward()
    d_opt.step()  # ALSO: clip-without-effect
    nn.utils.clip_grad_norm_(dis.parameters(), 0.1)  # EXPECT: clip-without-effect
    return loss.item()


def train_generator(fake):
    g_opt.zero_grad()
    loss = F.binary_cross_entropy_with_logits(dis(fake), ones)
    loss.backward()
    nn.utils.clip_grad_norm_(gen.parameters(), 0.05)
    g_opt.step()
    return loss.item()


for it in range(40):
    fake = gen(torch.randn(32, 4))
    d_loss, g_loss = train_discriminator(fake), train_generator(fake)
print(f"d {d_loss:.4f} g {g_loss:.4f}")
