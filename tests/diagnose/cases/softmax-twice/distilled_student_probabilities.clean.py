"""a teacher's softmax is right as target; the student's softmax before cross entropy is not."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(51)
teacher = nn.Linear(6, 4).requires_grad_(False)
student = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 4))
opt = torch.optim.Adam(student.parameters(), lr=1e-2)
for _ in range(25):
    x = torch.randn(32, 6)
    soft = teacher(x).softmax(1)
    out = student(x)
    loss = F.cross_entropy(out, soft)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("end")
