"""robust accuracy: evaluate() is under no_grad, and the FGSM attack it calls needs a gradient of the input."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(14)


def fgsm(model, x, y, eps=0.1):
    x = x.clone().requires_grad_(True)
    loss = F.cross_entropy(model(x), y)  # ALSO: recording-off
    loss.backward()
    return (x + eps * x.grad.sign()).detach()


def robust_accuracy(model, loader):
    model.eval()
    hits = 0
    with torch.no_grad():  # EXPECT-ERROR: recording-off
        for x, y in loader:
            adversarial = fgsm(model, x, y)
            hits += (model(adversarial).argmax(1) == y).sum().item()
    model.train()
    return hits / sum(len(y) for _, y in loader)


x = torch.rand(160, 1, 6, 6)
y = (x[:, :, :3].sum((1, 2, 3)) > x[:, :, 3:].sum((1, 2, 3))).long()
batches = list(zip(x.split(20), y.split(20)))
model = nn.Sequential(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten(), nn.Linear(96, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    for xb, yb in batches[:6]:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    print("epoch", epoch, "robust accuracy", robust_accuracy(model, batches[6:]))
