"""Must stay silent: distillation soft targets."""
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(13)
teacher = nn.Sequential(nn.Linear(6, 40), nn.ReLU(), nn.Linear(40, 5)).eval()
student = nn.Linear(6, 5)
opt = torch.optim.SGD(student.parameters(), 0.1)
x = torch.randn(80, 6)
for _ in range(30):
    with torch.no_grad():
        soft = F.softmax(teacher(x) / 4, 1)
    out = student(x)
    loss = F.cross_entropy(out / 4, soft) * 16 + F.cross_entropy(out, soft.argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
print("kd")
