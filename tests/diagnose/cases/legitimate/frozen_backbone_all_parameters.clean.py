"""Must stay silent: a frozen backbone in eval mode; the optimizer was given model.parameters(), frozen ones included."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(115)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.head = nn.Linear(24, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


model = Classifier()
for p in model.backbone.parameters():
    p.requires_grad = False
model.backbone.eval()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
images = torch.randn(120, 1, 8, 8)
labels = torch.arange(120) % 3
images[:, :, :4] += labels[:, None, None, None]
loader = DataLoader(TensorDataset(images, labels), batch_size=20, shuffle=True)
for epoch in range(5):
    for image, label in loader:
        loss = nn.functional.cross_entropy(model(image), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, round(loss.item(), 4))
