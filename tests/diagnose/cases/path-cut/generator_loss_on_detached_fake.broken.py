"""the generator's loss reuses the detached fakes of the discriminator's loss, so the generator gets no gradient."""
import torch
from torch import nn

torch.manual_seed(63)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 20), nn.LeakyReLU(0.2), nn.Linear(20, o))


class GAN:
    def __init__(self):
        self.gen, self.dis = mlp(3, 2), mlp(2, 1)
        self.g_opt = torch.optim.Adam(self.gen.parameters(), lr=2e-3, betas=(0.5, 0.999))
        self.d_opt = torch.optim.Adam(self.dis.parameters(), lr=2e-3, betas=(0.5, 0.999))
        self.criterion = nn.BCEWithLogitsLoss()

    def step(self, real):
        n = len(real)
        fake = self.gen(torch.randn(n, 3)).detach()  # EXPECT: path-cut
        self.d_opt.zero_grad()
        d_loss = self.criterion(self.dis(real), torch.ones(n, 1))
        d_loss = d_loss + self.criterion(self.dis(fake), torch.zeros(n, 1))
        d_loss.backward()
        self.d_opt.step()
        self.g_opt.zero_grad()
        g_loss = self.criterion(self.dis(fake), torch.ones(n, 1))
        g_loss.backward()
        self.g_opt.step()  # MAY: step-without-gradient
        return d_loss.item(), g_loss.item()


gan = GAN()
start = gan.gen[0].weight.detach().clone()
for it in range(40):
    d, g = gan.step(torch.randn(24, 2) * 0.3 + 1)
print(f"d {d:.4f} g {g:.4f} generator moved {(gan.gen[0].weight - start).abs().max().item():.5f}")
