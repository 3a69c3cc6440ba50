"""Legitimate twin: batch normalisation outside, group normalisation inside the checkpointed stage."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(75)


class Stage(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.GroupNorm(2, channels)

    def forward(self, x):
        h = self.conv(x)
        h = self.norm(h)
        return torch.relu(h) + x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6))
        self.stage = Stage(6)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        h = self.stem(x)
        h = checkpoint(self.stage, h, use_reentrant=False)
        return self.head(h.amax((2, 3)))


model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
images = torch.randn(60, 1, 6, 6)
labels = torch.arange(60) % 3
images += labels[:, None, None, None] * 0.5
for step in range(30):
    rows = torch.randperm(60)[:12]
    loss = nn.functional.cross_entropy(model(images[rows]), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4), "steps 30, batches counted", int(model.stem[1].num_batches_tracked))
