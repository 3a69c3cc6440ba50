"""an AverageMeter is fed the loss tensor itself, so its running sum holds the graph of every batch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n):
        self.sum += value * n  # EXPECT: graphs-accumulate
        self.count += n

    @property
    def average(self):
        return float(self.sum / self.count)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3)
        self.fc = nn.Linear(6 * 6 * 6, 3)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).flatten(1))


def train(model, loader, optimizer, criterion):
    meter = AverageMeter()
    for images, labels in loader:
        loss = criterion(model(images), labels)  # ALSO: graphs-accumulate
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss, len(labels))
    return meter.average


x = torch.randn(240, 1, 8, 8)
y = (x[:, 0, :4].mean((1, 2)) > 0).long() + (x[:, 0, 4:].mean((1, 2)) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
net = ConvNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(2):
    print("epoch", epoch, "loss", round(train(net, loader, opt, nn.CrossEntropyLoss()), 4))
