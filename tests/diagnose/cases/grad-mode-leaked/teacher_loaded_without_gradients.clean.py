"""loading the teacher turns off its parameters' gradients, not recording."""
import torch
import torch.nn.functional as F
from torch import nn


def body(width):
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 4))


def load_teacher():
    teacher = body(64)
    teacher.requires_grad_(False)
    return teacher.eval()


def distil(student, teacher, x, steps=15, temperature=2.0):
    optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
    for _ in range(steps):
        target = F.softmax(teacher(x) / temperature, dim=1)
        loss = F.kl_div(F.log_softmax(student(x) / temperature, dim=1), target, reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(192)
    teacher = load_teacher()
    student = body(16)
    print("distilled", round(distil(student, teacher, torch.randn(50, 8)), 5))


main()
