"""Legitimate twin: the same validation under @torch.no_grad()."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8)
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        x = torch.relu(self.bn2(self.conv2(x)))
        return self.fc(x.mean((2, 3)))


def make_loader(n, batch_size):
    y = torch.arange(n) % 3
    x = torch.randn(n, 1, 8, 8) + y.view(-1, 1, 1, 1) * 0.5
    return DataLoader(TensorDataset(x, y), batch_size=batch_size)


@torch.no_grad()
def validate(model, loader, criterion):
    model.eval()
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        total += loss.item()
    return total / len(loader)


model, criterion = ConvNet(), nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
train_loader, val_loader = make_loader(96, 16), make_loader(192, 32)
for epoch in range(4):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    print("epoch", epoch, "validation", round(validate(model, val_loader, criterion), 4))
