"""Must stay silent: the wrapper module holds the teacher too, train() switches it, and it is put back to eval each epoch."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(114)


class Distiller(nn.Module):
    def __init__(self):
        super().__init__()
        self.teacher = nn.Sequential(nn.Linear(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3))
        self.student = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 3))

    def train(self, mode=True):
        super().train(mode)
        self.teacher.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            wanted = self.teacher(x)
        return self.student(x), wanted


model = Distiller()
optimizer = torch.optim.SGD(model.student.parameters(), lr=0.1, momentum=0.9)
for epoch in range(6):
    model.train()
    for batch in torch.randn(120, 6).split(20):
        logits, wanted = model(batch)
        loss = F.mse_loss(logits, wanted) + F.cross_entropy(logits, wanted.softmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, round(loss.item(), 4))
