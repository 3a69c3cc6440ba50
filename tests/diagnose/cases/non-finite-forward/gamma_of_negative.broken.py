"""Gamma correction raises the net's output to 1/2.2; below zero that is no number."""

import torch
from torch import nn

torch.manual_seed(23)
GAMMA = 2.2


def to_display(linear: torch.Tensor) -> torch.Tensor:
    return linear ** (1 / GAMMA)  # EXPECT: non-finite-forward


class ToneMapper(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 1), nn.LeakyReLU(0.1), nn.Conv2d(8, 3, 1))

    def forward(self, image):
        return image + 0.3 * self.net(image)


def train_one_epoch(model, loader, optimizer):
    model.train()
    for image, target in loader:
        output = model(image)
        losses = {"display": (to_display(output) - target).abs().mean(), "energy": 1e-3 * output.pow(2).mean()}
        total = sum(losses.values())
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
    return total


model = ToneMapper()
images = torch.rand(12, 3, 5, 5)
loader = [(batch, batch.sqrt()) for batch in images.split(4)]
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    print(epoch, train_one_epoch(model, loader, optimizer).item())
