"""Two generators in one optimizer, two discriminators in another, a pool of old fakes."""
import itertools
import random
import torch
import torch.nn as nn

torch.manual_seed(19)
random.seed(19)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 24), nn.LeakyReLU(0.2), nn.Linear(24, o))


class Pool:
    def __init__(self, size=20):
        self.size, self.items = size, []

    def query(self, batch):
        out = []
        for item in batch.detach():
            if len(self.items) < self.size:
                self.items.append(item)
                out.append(item)
            elif random.random() < 0.5:
                i = random.randrange(self.size)
                out.append(self.items[i])
                self.items[i] = item
            else:
                out.append(item)
        return torch.stack(out)


GA, GB, DA, DB = mlp(3, 3), mlp(3, 3), mlp(3, 1), mlp(3, 1)
og = torch.optim.Adam(itertools.chain(GA.parameters(), GB.parameters()), 1e-3)
od = torch.optim.Adam(itertools.chain(DA.parameters(), DB.parameters()), 1e-3)
mse, l1 = nn.MSELoss(), nn.L1Loss()
pa, pb = Pool(), Pool()
for it in range(50):
    a, b = torch.randn(8, 3), torch.randn(8, 3) + 2
    for p in itertools.chain(DA.parameters(), DB.parameters()):
        p.requires_grad_(False)
    fb, fa = GA(a), GB(b)
    score = DB(fb)
    adv = mse(score, torch.ones_like(score)) + mse(DA(fa), torch.ones(8, 1))
    cyc = l1(GB(fb), a) + l1(GA(fa), b)
    idt = l1(GA(b), b) + l1(GB(a), a)
    og.zero_grad()
    (adv + 10 * cyc + 5 * idt).backward()
    og.step()
    for p in itertools.chain(DA.parameters(), DB.parameters()):
        p.requires_grad_(True)
    od.zero_grad()
    for D, real, fake in ((DA, a, pa.query(fa)), (DB, b, pb.query(fb))):
        d = 0.5 * (mse(D(real), torch.ones(8, 1)) + mse(D(fake), torch.zeros(8, 1)))
        d.backward()
    od.step()
print(round(cyc.item(), 2))
