"""Legitimate twin: the helper records in a block of its own."""
import torch
from torch import nn

torch.manual_seed(22)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(64, 4)
y = x[:, :1] * 2 - x[:, 1:2]


def saliency(inputs):
    with torch.enable_grad():
        inputs = inputs.clone().requires_grad_()
        return torch.autograd.grad(model(inputs).sum(), inputs)[0].abs().mean(0)


for epoch in range(5):
    for rows in torch.randperm(48).split(16):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        important = saliency(x[48:]).argmax().item()
        validation = nn.functional.mse_loss(model(x[48:]), y[48:])
    print(epoch, "validation", round(validation.item(), 4), "most important", important)
