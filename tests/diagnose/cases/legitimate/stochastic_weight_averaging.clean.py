"""Must stay silent: SWA with a batch-norm recalibration pass in train mode without gradients."""
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(110)
x = torch.randn(192, 7) * 2 + 1
y = (x[:, 0] > x[:, 1]).long()
loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
model = nn.Sequential(nn.Linear(7, 20), nn.BatchNorm1d(20), nn.ReLU(), nn.Linear(20, 2))
averaged = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(8):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
    if epoch >= 4:
        averaged.update_parameters(model)
update_bn(loader, averaged)
averaged.eval()
with torch.no_grad():
    accuracy = (averaged(x).argmax(1) == y).float().mean().item()
print("loss", round(loss.item(), 4), "averaged accuracy", round(accuracy, 3))
