"""evaluate() raises on a missing metric before it switches recording on again, and the loop carries on."""
import torch
from torch import nn

torch.manual_seed(18)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)


def evaluate(metric):
    torch.set_grad_enabled(False)  # EXPECT-ERROR: grad-mode-leaked
    error = model(x[48:]) - y[48:]
    value = {"mse": error.pow(2).mean(), "mae": error.abs().mean()}[metric].item()
    torch.set_grad_enabled(True)
    return value


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
