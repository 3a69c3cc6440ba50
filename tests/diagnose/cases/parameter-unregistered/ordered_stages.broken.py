"""Stages of a convolutional net lie in an OrderedDict, which a Module does not look into."""

from collections import OrderedDict

import torch
from torch import nn

torch.manual_seed(13)


def stage(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())


class StagedNet(nn.Module):
    def __init__(self, channels=(1, 4, 8)):
        super().__init__()
        stages = OrderedDict((f"stage{i}", stage(a, b)) for i, (a, b) in enumerate(zip(channels, channels[1:])))
        self.stages = stages  # EXPECT: parameter-unregistered
        self.head = nn.Linear(channels[-1], 2)

    def forward(self, image):
        for layer in self.stages.values():
            image = layer(image)
        return self.head(image.mean((2, 3)))


images = torch.randn(32, 1, 6, 6)
labels = (images.mean((1, 2, 3)) > 0).long()
model = StagedNet()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for epoch in range(10):
    for xb, yb in zip(images.split(16), labels.split(16)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
print("loss", loss.item())
