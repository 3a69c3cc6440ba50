"""Legitimate twin: only the frozen backbone runs in the no_grad block, the head and the loss outside of it."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(6)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)

    def forward(self, x):
        return F.relu(self.conv2(F.relu(self.conv1(x)))).mean((2, 3))


class LinearProbe(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone.requires_grad_(False)
        self.head = nn.Linear(16, 4)

    def training_step(self, images, labels):
        with torch.no_grad():
            features = self.backbone(images)
        logits = self.head(features)
        return F.cross_entropy(logits, labels)


images = torch.randn(128, 3, 8, 8)
labels = images.mean((2, 3)).argmax(1)
probe = LinearProbe(Backbone())
optimizer = torch.optim.SGD(probe.head.parameters(), lr=0.5)
for step in range(40):
    idx = torch.randperm(128)[:32]
    loss = probe.training_step(images[idx], labels[idx])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print("step", step, "loss", round(loss.item(), 4))
