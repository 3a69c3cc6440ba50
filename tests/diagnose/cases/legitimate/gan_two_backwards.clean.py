"""A generator step of two backward passes: adversarial and reconstruction, each with its own backward."""
import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
for step in range(240):
    real = torch.randn(32, 2) * 0.5 + torch.tensor([2.0, -1.0])
    noise = torch.randn(32, 8)
    fake = G(noise)
    D.zero_grad()
    loss_real = bce(D(real), torch.ones(32, 1))
    loss_real.backward()
    loss_fake = bce(D(fake.detach()), torch.zeros(32, 1))
    loss_fake.backward()
    opt_d.step()
    G.zero_grad()
    adv = bce(D(fake), torch.ones(32, 1))
    adv.backward(retain_graph=True)
    rec = (fake - real.mean(0)).pow(2).mean()
    rec.backward()
    opt_g.step()
    if step % 60 == 0:
        print(step, f"{loss_real.item() + loss_fake.item():.3f} {adv.item():.3f}")
