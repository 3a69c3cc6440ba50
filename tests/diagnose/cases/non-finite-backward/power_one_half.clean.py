"""Legitimate twin: the base is kept above a small positive value."""
import torch
from torch import nn

torch.manual_seed(32)


class ToneMapper(nn.Module):
    def __init__(self, gamma=0.45):
        super().__init__()
        self.gamma = gamma
        self.gain = nn.Parameter(torch.ones(1))
        self.detail = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 1, 3, padding=1))

    def forward(self, image):
        linear = self.gain * image
        toned = linear.clamp(min=1e-3) ** self.gamma
        return toned + self.detail(image)


def train(model, images, targets):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(5):
        for image, target in zip(images.split(8), targets.split(8)):
            optimizer.zero_grad(set_to_none=False)
            loss = nn.functional.l1_loss(model(image), target)
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", loss.item())


images = torch.rand(48, 1, 6, 6)
images[::5, :, 0] = 0.0
train(ToneMapper(), images, images.sqrt())
