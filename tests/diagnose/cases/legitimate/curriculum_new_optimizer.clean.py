"""Must stay silent: first the head is trained on a frozen encoder, then both, each phase with its own optimizer."""
import torch
from torch import nn

torch.manual_seed(170)
encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
head = nn.Linear(32, 4)


def train(parameters, lr, steps):
    optimizer = torch.optim.Adam(parameters, lr=lr)
    for _ in range(steps):
        x = torch.randn(32, 8)
        loss = nn.functional.cross_entropy(head(encoder(x)), x[:, :4].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


encoder.requires_grad_(False)
print("head only", round(train(head.parameters(), 1e-2, 30), 4))
encoder.requires_grad_(True)
head.requires_grad_(False)
print("encoder only", round(train(encoder.parameters(), 3e-3, 30), 4))
head.requires_grad_(True)
print("both", round(train([*encoder.parameters(), *head.parameters()], 1e-3, 30), 4))
