"""Must stay silent: a generator of perturbations against a linear victim that a function trained before."""
import torch
from torch import nn

torch.manual_seed(0)


def train_victim():
    victim = nn.Linear(12, 30)
    opt = torch.optim.SGD(victim.parameters(), lr=0.1)
    for _ in range(30):
        x = torch.randn(32, 12)
        loss = nn.functional.cross_entropy(victim(x), x.argmax(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    return victim


victim = train_victim()
attack = nn.Linear(12, 12)
opt = torch.optim.Adam(attack.parameters(), lr=1e-2)
for _ in range(40):
    x = torch.randn(32, 12)
    loss = -nn.functional.cross_entropy(victim(x + 0.1 * torch.tanh(attack(x))), x.argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
print("attacked")
