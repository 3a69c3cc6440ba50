"""Legitimate twin: squeezed predictions, and a scalar baseline expanded explicitly."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)


class HousePrices(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.model(x)


features = torch.randn(256, 8)
price = features @ torch.linspace(-1, 1, 8) + 0.1 * torch.randn(256)
loader = DataLoader(TensorDataset(features, price), batch_size=32, shuffle=True)
net = HousePrices()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
criterion = nn.MSELoss()
baseline = criterion(price.mean().expand_as(price), price).item()
for epoch in range(6):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        pred = net(xb)
        loss = criterion(pred.squeeze(1), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print("epoch", epoch, "mse", round(total / len(loader), 4))
print("baseline", round(baseline, 4))
