"""Legitimate twin: F.dropout(..., training=self.training)."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3)
        self.conv2 = nn.Conv2d(6, 8, 3)
        self.fc1 = nn.Linear(8 * 4, 24)
        self.fc2 = nn.Linear(24, 3)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(F.max_pool2d(self.conv2(x), 2))
        x = F.relu(self.fc1(x.flatten(1)))
        x = F.dropout(x, 0.4, training=self.training)
        return self.fc2(x)


def test(model, x, y):
    model.eval()
    with torch.no_grad():
        return F.cross_entropy(model(x), y).item()


y = torch.arange(180) % 3
x = torch.randn(180, 1, 8, 8) + 0.5 * y.view(-1, 1, 1, 1)
model = LeNet()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    model.train()
    for idx in torch.randperm(120).split(12):
        optimizer.zero_grad()
        F.cross_entropy(model(x[idx]), y[idx]).backward()
        optimizer.step()
    print("epoch", epoch, "test loss", round(test(model, x[120:], y[120:]), 4))
