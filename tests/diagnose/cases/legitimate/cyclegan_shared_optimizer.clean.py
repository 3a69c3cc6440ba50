"""Must stay silent: cyclegan shared optimizer."""
import itertools
import torch
from torch import nn
torch.manual_seed(32)
A2B, B2A, DA, DB = (nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 1), nn.Linear(3, 1))
og = torch.optim.Adam(itertools.chain(A2B.parameters(), B2A.parameters()), 2e-3)
od = torch.optim.Adam(itertools.chain(DA.parameters(), DB.parameters()), 2e-3)
def req(flag, *nets):
    for n in nets:
        for p in n.parameters():
            p.requires_grad_(flag)
for _ in range(25):
    a, b = torch.randn(16, 3), torch.randn(16, 3) + 1
    req(False, DA, DB)
    fb, fa = A2B(a), B2A(b)
    loss = (DB(fb) - 1).pow(2).mean() + (DA(fa) - 1).pow(2).mean() + 10 * ((B2A(fb) - a).abs().mean() + (A2B(fa) - b).abs().mean())
    og.zero_grad()
    loss.backward()
    og.step()
    req(True, DA, DB)
    od.zero_grad()
    for D, real, fake in ((DA, a, fa), (DB, b, fb)):
        (0.5 * ((D(real) - 1).pow(2).mean() + D(fake.detach()).pow(2).mean())).backward()
    od.step()
print("cycle")
