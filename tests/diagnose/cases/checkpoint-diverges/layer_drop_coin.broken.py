"""Stochastic depth flips a Python coin inside the checkpointed region, and the recomputation may take the other branch."""
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

    def forward(self, x):
        if random.random() < self.survive:
            x = x + torch.tanh(self.conv(x)) / self.survive  # ALSO: checkpoint-diverges
        return 0.7 * x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 3, padding=1)
        self.body = Residual(4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        h = self.stem(x)
        h = checkpoint(self.body, h, use_reentrant=False)  # EXPECT-ERROR: checkpoint-diverges
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
