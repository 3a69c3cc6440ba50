"""A two-way gate with one output per way."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(72)


class GatedSum(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.left, self.right = nn.Linear(inputs, 8), nn.Sequential(nn.Linear(inputs, 8), nn.Tanh())
        self.gate = nn.Linear(inputs, 2)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        gate = F.softmax(self.gate(x), dim=-1)
        mixed = gate[:, :1] * self.left(x) + gate[:, 1:] * self.right(x)
        return self.out(mixed)


class Experiment:
    def __init__(self, rows=150, inputs=6):
        self.x = torch.randn(rows, inputs)
        self.y = torch.where(self.x[:, :1] > 0, self.x.sum(1, keepdim=True), torch.sin(self.x[:, 1:2]))
        self.model = GatedSum(inputs)
        self.optimizer = torch.optim.RMSprop(self.model.parameters(), lr=2e-3)

    def run(self, epochs):
        for _ in range(epochs):
            for xb, yb in zip(self.x.split(50), self.y.split(50)):
                self.optimizer.zero_grad()
                loss = F.mse_loss(self.model(xb), yb)
                loss.backward()
                self.optimizer.step()
        return loss.item()


print("loss", round(Experiment().run(epochs=8), 4))
