"""Legitimate twin: a with block switches recording on again, whatever is raised inside it."""
import torch
from torch import nn

torch.manual_seed(18)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)


def evaluate(metric):
    with torch.set_grad_enabled(False):
        error = model(x[48:]) - y[48:]
        return {"mse": error.pow(2).mean(), "mae": error.abs().mean()}[metric].item()


for epoch, metric in enumerate(["mse", "mae", "r2", "mse"]):
    for start in range(0, 48, 16):
        loss = (model(x[start:start + 16]) - y[start:start + 16]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    try:
        print(epoch, metric, round(evaluate(metric), 4))
    except KeyError:
        print(epoch, "no such metric:", metric)
