"""Legitimate twin: the generator leaves the no_grad block before it yields."""
import torch
from torch import nn

torch.manual_seed(7)

teacher = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 5)).eval().requires_grad_(False)
student = nn.Sequential(nn.Linear(8, 12), nn.Tanh(), nn.Linear(12, 5))


def teacher_batches(x, batch_size):
    for batch in x.split(batch_size):
        with torch.no_grad():
            target = teacher(batch)
        yield batch, target


def distill(x, epochs=5):
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
    for epoch in range(epochs):
        total = 0.0
        for batch, target in teacher_batches(x, 16):
            loss = nn.functional.mse_loss(student(batch), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print("epoch", epoch, "distance to teacher", round(total, 4))


distill(torch.randn(128, 8))
