"""Legitimate twin: the validation losses are computed under no_grad."""
import torch
from torch import nn

torch.manual_seed(46)
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
held_out = torch.randn(16, 4)
curve = []
for epoch in range(12):
    model.train()
    for x in torch.randn(4, 8, 4):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        curve.append(nn.functional.mse_loss(model(held_out), held_out.sum(1, keepdim=True)))
print("best", round(min(value.item() for value in curve), 4))
