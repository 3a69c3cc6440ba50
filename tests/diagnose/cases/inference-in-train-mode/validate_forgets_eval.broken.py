"""validation runs under no_grad but the network is still in train mode: dropout makes the validation loss random."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(10, 32), nn.Linear(32, 3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.fc2(self.drop(torch.relu(self.fc1(x))))


def validate(model, loader, criterion):
    total = 0.0
    with torch.no_grad():
        for x, y in loader:
            total += criterion(model(x), y).item()  # EXPECT: inference-in-train-mode
    return total / len(loader)


def make_loader(n):
    x = torch.randn(n, 10)
    return DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=16)


train_loader, val_loader = make_loader(160), make_loader(64)
model, criterion = Net(), nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "train", round(loss.item(), 4), "val", round(validate(model, val_loader, criterion), 4))
