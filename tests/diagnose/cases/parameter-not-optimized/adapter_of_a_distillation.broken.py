"""feature distillation with a learned adapter between widths."""
import itertools
import torch
from torch import nn

torch.manual_seed(11)
teacher = nn.Sequential(nn.Linear(6, 40), nn.Tanh())
teacher.requires_grad_(False)
student = nn.Sequential(nn.Linear(6, 12), nn.Tanh())
adapter = nn.Linear(12, 40)
head = nn.Linear(12, 1)
params = itertools.chain(student.parameters(), head.parameters())
opt = torch.optim.Adam(params, lr=1e-2)  # EXPECT: parameter-not-optimized
for _ in range(60):
    x = torch.randn(32, 6)
    f = student(x)
    loss = (head(f) - x.prod(1, keepdim=True)).abs().mean() + (adapter(f) - teacher(x)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item() < 100)
