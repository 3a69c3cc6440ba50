"""A mean-shifted normalisation (minus a constant) before ReLU silences most of the head's units after an LSTM."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(65)


class ShiftedBlock(nn.Module):
    def __init__(self, dim, shift):
        super().__init__()
        self.linear = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.register_buffer("shift", torch.linspace(-1.0, shift, dim))

    def forward(self, h):
        return F.relu(self.norm(self.linear(h)) - self.shift)  # EXPECT: dead-units


class SeriesClassifier(nn.Module):
    def __init__(self, dim=20):
        super().__init__()
        self.lstm = nn.LSTM(2, dim, batch_first=True)
        self.block = ShiftedBlock(dim, shift=10.0)
        self.out = nn.Linear(dim, 2)

    def forward(self, x):
        _, (h, _) = self.lstm(x)
        return self.out(self.block(h[-1]))


model = SeriesClassifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(90):
    x = torch.randn(16, 9, 2)
    y = (x[..., 0].sum(1) > 0).long()
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 29:
        print(step, round(loss.item(), 4))
