"""ten batches are accumulated in groups of four, and the clear at the next epoch's start throws the last two away."""
import torch
from torch import nn

torch.manual_seed(2)
GROUP = 4


def build():
    return nn.Sequential(nn.Linear(7, 24), nn.SiLU(), nn.Linear(24, 1))


def fit(model, x, y, epochs):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(epochs):
        optimizer.zero_grad()  # EXPECT: gradient-discarded
        losses = []
        for i, rows in enumerate(torch.randperm(len(x)).split(12)):
            error = model(x[rows]) - y[rows]
            loss = error.pow(2).mean()
            (loss / GROUP).backward()  # ALSO: gradient-discarded
            losses.append(loss.item())
            if i % GROUP == GROUP - 1:
                optimizer.step()
                optimizer.zero_grad()
        print("epoch", epoch, "mse", round(sum(losses) / len(losses), 4))


x = torch.randn(120, 7)
y = (x[:, :2].prod(1) + x[:, 2]).unsqueeze(1)
fit(build(), x, y, epochs=6)
