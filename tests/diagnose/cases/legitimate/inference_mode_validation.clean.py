"""Must stay silent: validation under inference_mode in eval mode, then back to train()."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(166)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2))
        self.drop = nn.Dropout2d(0.1)
        self.head = nn.Linear(8 * 9, 3)

    def forward(self, x):
        return self.head(self.drop(self.features(x)).flatten(1))


@torch.inference_mode()
def validate(model, loader):
    model.eval()
    right = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in loader)
    model.train()
    return right / len(loader.dataset)


images = torch.randn(150, 1, 6, 6)
labels = torch.arange(150) % 3
images[torch.arange(150), 0, labels] += 1.5
train_loader = DataLoader(TensorDataset(images[:120], labels[:120]), batch_size=20, shuffle=True)
valid_loader = DataLoader(TensorDataset(images[120:], labels[120:]), batch_size=15)
model = ConvNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
for epoch in range(5):
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
    print("epoch", epoch, round(loss.item(), 4), "accuracy", round(validate(model, valid_loader), 3))
