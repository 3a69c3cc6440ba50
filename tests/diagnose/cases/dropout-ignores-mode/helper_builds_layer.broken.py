"""A helper builds AlphaDropout anew at each call, so it is always in train mode (SO 66534762)."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(53)


def regularised(h, p):
    h = torch.selu(h)
    return nn.AlphaDropout(p)(h)  # EXPECT: dropout-ignores-mode


class SNN(nn.Module):
    def __init__(self, sizes=(13, 32, 32)):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.head = nn.Linear(sizes[-1], 1)

    def forward(self, x):
        for layer in self.layers:
            x = regularised(layer(x), p=0.1)
        return self.head(x)


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.waited = patience, float("inf"), 0

    def __call__(self, value):
        self.waited = 0 if value < self.best else self.waited + 1
        self.best = min(self.best, value)
        return self.waited >= self.patience


x = torch.randn(180, 13)
y = x[:, :3].abs().sum(1, keepdim=True)
model, stop = SNN(), EarlyStopping(patience=4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for epoch in range(10):
    model.train()
    for xb, yb in zip(x[:150].split(30), y[:150].split(30)):
        optimizer.zero_grad()
        F.mse_loss(model(xb), yb).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        value = F.mse_loss(model(x[150:]), y[150:]).item()
    if stop(value):
        break
print("best", round(stop.best, 3), "epoch", epoch)
