"""transfer learning: a frozen backbone and a new head."""
import torch
from torch import nn

torch.manual_seed(13)


def backbone():
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())


class Classifier(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.features = backbone()
        self.neck = nn.Linear(32, 16)
        self.head = nn.Linear(16, n)

    def forward(self, x):
        return self.head(torch.relu(self.neck(self.features(x))))


model = Classifier(3)
for p in model.features.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(model.head.parameters(), lr=0.05)  # EXPECT: parameter-not-optimized
for step in range(50):
    images = torch.randn(8, 3, 8, 8)
    labels = images.mean((2, 3)).argmax(1)
    logits = model(images)
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("finished")
