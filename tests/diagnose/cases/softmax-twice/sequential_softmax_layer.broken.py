"""nn.Softmax is the last layer of the Sequential and the criterion is nn.CrossEntropyLoss: the loss cannot fall below 0.744."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)

net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4), nn.Softmax(dim=1))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


def train_epoch(loader):
    total = 0.0
    for features, labels in loader:
        optimizer.zero_grad()
        outputs = net(features)  # ALSO: softmax-twice
        loss = criterion(outputs, labels)  # EXPECT: softmax-twice
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


x = torch.randn(240, 12)
y = x[:, :4].argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
for epoch in range(6):
    print("epoch", epoch, "loss", round(train_epoch(loader), 4))
