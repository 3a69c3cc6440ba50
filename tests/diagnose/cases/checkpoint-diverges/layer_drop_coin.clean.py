"""Legitimate twin: the coin is flipped outside and passed into the region."""
import random
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(72)
random.seed(3)


class Residual(nn.Module):
    def __init__(self, channels, survive=0.5):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.survive = survive

    def forward(self, x, keep):
        if keep:
            x = x + torch.tanh(self.conv(x)) / self.survive
        return 0.7 * x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 3, padding=1)
        self.body = Residual(4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        h = self.stem(x)
        h = checkpoint(self.body, h, random.random() < self.body.survive, use_reentrant=False)
        return self.head(h.mean((2, 3)))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images = torch.randn(40, 1, 6, 6)
labels = (images.mean((1, 2, 3)) > 0).long()
for step in range(30):
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
