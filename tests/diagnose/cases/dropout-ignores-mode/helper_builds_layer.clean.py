"""A helper takes the mode of the module that calls it; the Monte Carlo head asks for dropout in so many words."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(53)


def regularised(h, p, training):
    h = torch.selu(h)
    return F.alpha_dropout(h, p, training)


class SNN(nn.Module):
    def __init__(self, sizes=(13, 32, 32)):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.head = nn.Linear(sizes[-1], 1)

    def forward(self, x):
        for layer in self.layers:
            x = regularised(layer(x), 0.1, self.training)
        return self.head(x)

    def spread(self, x, samples=8):
        draws = [self.head(F.dropout(self.layers[0](x), 0.1, training=True)) for _ in range(samples)]
        return torch.stack(draws).std(0)


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
with torch.no_grad():
    print("spread", round(model.spread(x[150:]).mean().item(), 3))
