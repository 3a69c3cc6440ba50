"""Must stay silent: a teacher that is the exponential average of the student; it takes no gradient and has no optimizer."""
import copy
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(111)
student = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad = False
teacher.eval()
optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
labelled = torch.randn(40, 6)
labels = labelled[:, :3].argmax(1)
for step in range(60):
    unlabelled = torch.randn(40, 6)
    supervised = F.cross_entropy(student(labelled), labels)
    consistency = F.mse_loss(student(unlabelled).softmax(1), teacher(unlabelled).softmax(1))
    loss = supervised + min(1.0, step / 30) * consistency
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(teacher.parameters(), student.parameters()):
            slow.mul_(0.95).add_(fast, alpha=0.05)
    if step % 20 == 19:
        print(step, round(supervised.item(), 4), round(consistency.item(), 5))
