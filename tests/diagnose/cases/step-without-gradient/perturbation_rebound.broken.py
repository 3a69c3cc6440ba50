"""each round the perturbation is clamped into a new tensor; the optimizer still owns the first one (discuss.pytorch.org 13064)."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(121)


def attack(model, images, labels, eps=0.3, rounds=12):
    delta = torch.zeros_like(images, requires_grad=True)
    optimizer = torch.optim.Adam([delta], lr=0.05)
    for _ in range(rounds):
        loss = -F.cross_entropy(model(images + delta), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # EXPECT: step-without-gradient
        delta = delta.detach().clamp(-eps, eps).requires_grad_()
    return delta.detach(), -loss.item()


model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3))
model.requires_grad_(False).eval()
images = torch.rand(8, 1, 8, 8)
labels = torch.arange(8) % 3
delta, loss = attack(model, images, labels)
print("attacked loss", round(loss, 4), "largest change", round(delta.abs().max().item(), 3))
