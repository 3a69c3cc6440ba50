"""Legitimate twin: layer-wise statistics (never over a single element) and the same odd last batch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(26)


class Standardise(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width))

    def forward(self, h):
        centred = h - h.mean(1, keepdim=True)
        scale = h.std(dim=1, keepdim=True)
        return self.gain * centred / (scale + 1e-5) + self.shift


model = nn.Sequential(nn.Linear(7, 20), Standardise(20), nn.ReLU(), nn.Linear(20, 1))
x = torch.randn(129, 7)
y = x[:, :1] * x[:, 1:2]
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    last = 0.0
    for xb, yb in loader:
        loss = nn.functional.mse_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        last = loss.item()
    print("epoch", epoch, "last loss", last)
