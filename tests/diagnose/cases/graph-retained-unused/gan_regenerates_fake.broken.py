"""the discriminator's backward retains a graph that nobody uses: its fake batch is detached and the generator makes a new one."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(18)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.ConvTranspose1d(4, 8, 4), nn.LeakyReLU(0.2), nn.ConvTranspose1d(8, 1, 4, 2, 1), nn.Tanh())

    def forward(self, z):
        return self.net(z)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(1, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv1d(8, 1, 4))

    def forward(self, x):
        return self.net(x).flatten()


G, D = Generator(), Critic()
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
one, zero = torch.ones(16), torch.zeros(16)
for step in range(40):
    real = torch.sin(torch.linspace(0, 6, 8) + 6 * torch.rand(16, 1, 1))
    opt_d.zero_grad()
    fake = G(torch.randn(16, 4, 1))
    d_loss = F.binary_cross_entropy_with_logits(D(real), one) + F.binary_cross_entropy_with_logits(D(fake.detach()), zero)
    d_loss.backward(retain_graph=True)  # EXPECT: graph-retained-unused
    opt_d.step()
    opt_g.zero_grad()
    g_loss = F.binary_cross_entropy_with_logits(D(G(torch.randn(16, 4, 1))), one)
    g_loss.backward()
    opt_g.step()
print("d", round(d_loss.item(), 4), "g", round(g_loss.item(), 4))
