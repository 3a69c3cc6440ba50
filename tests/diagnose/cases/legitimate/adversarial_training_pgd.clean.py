"""Must stay silent: adversarial training pgd."""
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(30)
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3))
opt = torch.optim.SGD(net.parameters(), 0.1)
x, y = torch.randn(48, 6), torch.arange(48) % 3
for _ in range(20):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(3):
        loss = F.cross_entropy(net(x + delta), y)
        loss.backward()
        delta.data = (delta + 0.05 * delta.grad.sign()).clamp(-0.1, 0.1).detach()
        delta.grad.zero_()
    opt.zero_grad()
    F.cross_entropy(net(x + delta.detach()), y).backward()
    opt.step()
print("pgd")
