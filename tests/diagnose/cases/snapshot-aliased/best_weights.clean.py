"""Legitimate twin: best = copy.deepcopy(model.state_dict())."""
import copy
import torch
from torch import nn

torch.manual_seed(91)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        return nn.functional.mse_loss(model(x), y).item()


x = torch.randn(160, 6)
y = x[:, :1].sin() + 0.5 * torch.randn(160, 1)
model = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
best_loss, best_weights = float("inf"), None
for epoch in range(10):
    model.train()
    for rows in torch.randperm(100).split(20):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    validation = evaluate(model, x[100:], y[100:])
    if validation < best_loss:
        best_loss = validation
        best_weights = copy.deepcopy(model.state_dict())
model.load_state_dict(best_weights)
print("best", round(best_loss, 4), "restored", round(evaluate(model, x[100:], y[100:]), 4))
