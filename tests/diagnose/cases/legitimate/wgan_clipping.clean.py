"""Must stay silent: WGAN; the critic's last bias cancels in the difference of means, so its gradient is always zero."""
import torch
from torch import nn

torch.manual_seed(104)
critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
generator = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
opt_c = torch.optim.RMSprop(critic.parameters(), lr=2e-3)
opt_g = torch.optim.RMSprop(generator.parameters(), lr=2e-3)


def real_batch(n=32):
    return torch.randn(n, 2) * 0.2 + torch.tensor([1.0, 1.0])


for iteration in range(20):
    for _ in range(5):
        with torch.no_grad():
            fake = generator(torch.randn(32, 6))
        opt_c.zero_grad()
        loss_c = critic(fake).mean() - critic(real_batch()).mean()
        loss_c.backward()
        opt_c.step()
        for p in critic.parameters():
            p.data.clamp_(-0.05, 0.05)
    opt_g.zero_grad()
    loss_g = -critic(generator(torch.randn(32, 6))).mean()
    loss_g.backward()
    opt_g.step()
    if iteration % 5 == 4:
        print(iteration, round(loss_c.item(), 5), round(loss_g.item(), 5))
