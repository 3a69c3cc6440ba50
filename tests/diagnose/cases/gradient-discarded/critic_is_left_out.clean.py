"""The critic goes on learning."""

import torch
from torch import nn

torch.manual_seed(9)
gen = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
dis = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
og, od = torch.optim.Adam(gen.parameters(), 1e-3), torch.optim.Adam(dis.parameters(), 1e-3)
bce = nn.BCEWithLogitsLoss()
one, zero = torch.ones(16, 1), torch.zeros(16, 1)
for it in range(700):
    real, fake = torch.randn(16, 2) + 2, gen(torch.randn(16, 2))
    od.zero_grad()
    (bce(dis(real), one) + bce(dis(fake.detach()), zero)).backward()
    od.step()
    og.zero_grad()
    bce(dis(fake), one).backward()
    og.step()
print("ok")
