"""A spatial attention map (B, 1, H, W) is normalised over its single channel instead of over the positions."""
import torch
from torch import nn

torch.manual_seed(7)


class SpatialAttention(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.to_map = nn.Conv2d(channels, 1, kernel_size=1)
        self.normalise = nn.Softmax(dim=1)

    def forward(self, features):
        attention = self.normalise(self.to_map(features))  # EXPECT: softmax-over-one
        return (features * attention).sum((2, 3))


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.attend = SpatialAttention(8)
        self.head = nn.Linear(8, 4)

    def forward(self, image):
        return self.head(self.attend(torch.relu(self.conv(image))))


model = Counter()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
images = torch.randn(96, 1, 8, 8)
quadrant = torch.stack([images[..., :4, :4], images[..., :4, 4:], images[..., 4:, :4], images[..., 4:, 4:]])
labels = quadrant.amax((2, 3, 4)).argmax(0)
for step in range(60):
    batch = torch.randint(0, 96, (24,))
    loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
