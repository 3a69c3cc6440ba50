"""A spatial softmax over the positions of a map of one channel."""
import torch
from torch import nn

torch.manual_seed(70)


class SaliencyPool(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.score = nn.Conv2d(channels, 1, kernel_size=1)
        self.normalise = nn.Softmax(dim=-1)

    def forward(self, features):
        scores = self.score(features)
        mask = self.normalise(scores.flatten(2)).view_as(scores)
        return (features * mask).mean((2, 3))


model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), SaliencyPool(8), nn.Linear(8, 2)
)
images = torch.randn(90, 1, 7, 7)
labels = (images[:, 0, 3, 3] > 0).long()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(4):
    for rows in torch.randperm(90).split(30):
        optimizer.zero_grad()
        loss = criterion(model(images[rows]), labels[rows])
        loss.backward()
        optimizer.step()
print("loss", round(loss.item(), 4))
