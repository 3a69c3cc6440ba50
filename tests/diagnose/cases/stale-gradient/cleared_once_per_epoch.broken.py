"""zero_grad() stands in the epoch loop instead of the batch loop, so within an epoch every update re-applies the earlier batches."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, padding=1)
        self.fc = nn.Linear(6 * 4 * 4, 2)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        return self.fc(x.flatten(1))


def make_data():
    x = torch.randn(128, 1, 8, 8)
    y = (x[:, 0, :4].mean((1, 2)) > x[:, 0, 4:].mean((1, 2))).long()
    return DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)


def main():
    torch.manual_seed(3)
    loader = make_data()
    net = SmallCNN()
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.5)
    for epoch in range(5):
        opt.zero_grad()
        total = 0.0
        for images, labels in loader:
            loss = F.cross_entropy(net(images), labels)
            loss.backward()  # ALSO: stale-gradient
            opt.step()  # EXPECT: stale-gradient
            total += loss.item()
        print("epoch", epoch, "loss", round(total / len(loader), 4))


if __name__ == "__main__":
    main()
