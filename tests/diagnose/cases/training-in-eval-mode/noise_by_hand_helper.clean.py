"""Legitimate twin: train mode is set again; what stays in eval mode is frozen: no gradients, or one normalisation layer."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(64)


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.Tanh())
        self.norm = nn.BatchNorm1d(16)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        if self.training:
            x = x + 0.2 * torch.randn_like(x)
        return self.head(self.norm(self.body(x)))


def set_mode(model, training):
    model.train(training)


def fit(steps):
    for _ in range(steps):
        rows = torch.randint(0, 100, (16,))
        loss = F.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


x = torch.randn(120, 5)
y = x.sum(1, keepdim=True).sin()
model = Noisy()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
set_mode(model, True)
print("first", fit(60))
set_mode(model, False)
with torch.no_grad():
    print("held out", F.mse_loss(model(x[100:]), y[100:]).item())
set_mode(model, True)
model.norm.eval()
print("second", fit(40))
model.body.eval().requires_grad_(False)
print("third", fit(40))
