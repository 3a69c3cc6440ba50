"""the skip connection is added in place to the output of a ReLU, which needs that output for its backward."""
import torch
from torch import nn
import torch.nn.functional as F


class BasicBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = F.relu(self.bn2(self.conv2(out)))  # ALSO: saved-value-overwritten
        out += x  # EXPECT-ERROR: saved-value-overwritten
        return out


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 6, 3, padding=1)
        self.blocks = nn.Sequential(BasicBlock(6), BasicBlock(6))
        self.fc = nn.Linear(6, 2)

    def forward(self, x):
        return self.fc(self.blocks(self.stem(x)).mean((2, 3)))


torch.manual_seed(39)
x = torch.randn(64, 1, 8, 8)
y = (x.mean((1, 2, 3)) > 0).long()
model = ResNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(8):
    for idx in torch.randperm(64).split(16):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
print("loss", loss.item())
