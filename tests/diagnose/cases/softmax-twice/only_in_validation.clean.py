"""Probabilities for the accuracy, scores for the loss."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(8)
x = torch.randn(160, 6)
y = x[:, :4].argmax(1)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def validate():
    model.eval()
    with torch.no_grad():
        scores = model(x[120:])
        probabilities = scores.softmax(dim=1)
        loss = F.cross_entropy(scores, y[120:])
        accuracy = (probabilities.argmax(1) == y[120:]).float().mean()
    model.train()
    return loss.item(), accuracy.item()


for epoch in range(5):
    for rows in torch.randperm(120).split(30):
        optimizer.zero_grad()
        F.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
    value, accuracy = validate()
print("validation", round(value, 2), round(accuracy, 1))
