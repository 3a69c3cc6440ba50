"""Must stay silent: synthetic data by a layer that nobody froze."""
import torch
from torch import nn

torch.manual_seed(2)
truth = nn.Linear(5, 2)
student = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 2))
opt = torch.optim.Adam(student.parameters(), 1e-2)
for _ in range(40):
    x = torch.randn(16, 5)
    loss = (student(x) - truth(x)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("learned")
