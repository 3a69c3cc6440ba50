"""Legitimate twin: each fold loads the initial weights from a serialised copy."""
import io
import torch
from torch import nn

torch.manual_seed(93)


def make_model():
    return nn.Sequential(nn.Linear(5, 20), nn.Tanh(), nn.Linear(20, 2))


def train_fold(model, x, y, steps=15):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


x = torch.randn(120, 5)
y = (x[:, 0] * x[:, 1] > 0).long()
model = make_model()
initial = io.BytesIO()
torch.save(model.state_dict(), initial)
scores = []
for fold in range(4):
    initial.seek(0)
    model.load_state_dict(torch.load(initial))
    held = torch.arange(120) % 4 == fold
    train_fold(model, x[~held], y[~held])
    with torch.no_grad():
        scores.append((model(x[held]).argmax(1) == y[held]).float().mean().item())
print("folds", [round(s, 3) for s in scores])
