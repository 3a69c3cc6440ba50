"""A recurrent cell by hand keeps its state positive with clamp, far below zero: nothing ever passes."""
import torch
from torch import nn

torch.manual_seed(67)


class Accumulator(nn.Module):
    def __init__(self, size=10, threshold=8.0):
        super().__init__()
        self.size, self.threshold = size, threshold
        self.gate = nn.Linear(3 + size, size)
        self.read = nn.Linear(size, 1)

    def forward(self, series):
        state = torch.zeros(len(series), self.size)
        for x in series.unbind(1):
            drive = self.gate(torch.cat([x, state], dim=1)) - self.threshold
            state = drive.clamp(min=0)  # EXPECT: dead-units
        return self.read(state).squeeze(1)


def train(model, steps=80):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    for step in range(steps):
        series = torch.randn(12, 6, 3)
        loss = (model(series) - series.mean((1, 2))).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()  # MAY: gradient-vanishes
        optimizer.step()
    print("loss", round(loss.item(), 4))


train(Accumulator())
