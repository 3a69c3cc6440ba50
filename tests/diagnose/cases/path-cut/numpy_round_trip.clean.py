"""Legitimate twin: NumPy smooths the inputs (no parameters upstream) and, at the end, the curve that is printed."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(36)
KERNEL = np.ones(5, dtype=np.float32) / 5


def smooth(signal):
    rows = [np.convolve(row, KERNEL, mode="same") for row in signal]
    return torch.from_numpy(np.stack(rows))


class SignalNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 1, 5, padding=2)
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        x = smooth(x.numpy())
        h = torch.tanh(self.conv(x.unsqueeze(1))).squeeze(1)
        return self.head(h)


x = torch.randn(120, 32).cumsum(1)
y = (x.std(1) > 2).long() + (x.std(1) > 3).long()
model = SignalNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
curve = []
for epoch in range(6):
    for idx in torch.randperm(120).split(15):
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        curve.append(loss.detach().numpy())
print("smoothed loss", smooth(np.array([curve]))[0, 2::10])
