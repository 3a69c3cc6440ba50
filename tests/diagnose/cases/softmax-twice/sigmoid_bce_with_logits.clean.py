"""Legitimate twin: sigmoid output with nn.BCELoss; a sigmoid gate in front of the logits goes to BCEWithLogitsLoss."""
import torch
from torch import nn

torch.manual_seed(9)


class ClickModel(nn.Module):
    def __init__(self, users=30, items=40, dim=8):
        super().__init__()
        self.user, self.item = nn.Embedding(users, dim), nn.Embedding(items, dim)
        self.gate = nn.Linear(2 * dim, 2 * dim)
        self.out = nn.Linear(2 * dim, 1)

    def forward(self, u, i):
        h = torch.cat([self.user(u), self.item(i)], dim=1)
        h = h * torch.sigmoid(self.gate(h))
        score = self.out(h).squeeze(1)
        return score, torch.sigmoid(score)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
        self.criterion = nn.BCEWithLogitsLoss()
        self.probability_criterion = nn.BCELoss()

    def step(self, u, i, clicked):
        self.optimizer.zero_grad()
        score, probability = self.model(u, i)
        loss = 0.5 * self.criterion(score, clicked) + 0.5 * self.probability_criterion(probability, clicked)
        loss.backward()
        self.optimizer.step()
        return loss.item()


u, i = torch.randint(0, 30, (600,)), torch.randint(0, 40, (600,))
clicked = ((u + i) % 3 == 0).float()
trainer = Trainer(ClickModel())
for step in range(60):
    idx = torch.randint(0, 600, (50,))
    loss = trainer.step(u[idx], i[idx], clicked[idx])
    if step % 20 == 19:
        print("step", step, "loss", round(loss, 4))
