"""Legitimate twin: plain logits behind the same hidden ReLU layer."""
import torch
from torch import nn

torch.manual_seed(64)


def build(classes=6):
    return nn.Sequential(
        nn.Linear(12, 32), nn.ReLU(),
        nn.Linear(32, classes))


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss()

    def step(self, x, y):
        self.optimizer.zero_grad()
        logits = self.model(x)
        loss = self.criterion(logits, y)
        loss.backward()
        self.optimizer.step()
        return loss.item()


centres = torch.randn(6, 12)
trainer = Trainer(build(), lr=0.1)
for step in range(200):
    label = torch.randint(0, 6, (24,))
    loss = trainer.step(centres[label] + 0.4 * torch.randn(24, 12), label)
    if step % 50 == 49:
        print(step, round(loss, 4))
