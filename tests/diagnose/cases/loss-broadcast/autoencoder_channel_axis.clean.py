"""Legitimate twin: same shapes; a fixed per-pixel weight (8, 8) multiplies the squared error on purpose."""
import torch
from torch import nn

torch.manual_seed(16)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(1, 6, 4, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(96, 10))
        self.decode = nn.Sequential(nn.Linear(10, 96), nn.Unflatten(1, (6, 4, 4)), nn.ConvTranspose2d(6, 1, 4, 2, 1))

    def forward(self, image):
        return self.decode(self.encode(image))


def reconstruction_loss(output, image):
    window = torch.sin(torch.linspace(0.0, 3.1416, 8))
    centre = 1.0 + window.unsqueeze(1) * window
    return torch.sum(centre * (output - image) ** 2) / len(image)


rows = torch.linspace(0, 3, 8)
data = torch.sin(rows[None, :, None] * (1 + torch.arange(64.0)[:, None, None] % 4) + rows[None, None, :])
model = AutoEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(5):
    for index in torch.randperm(64).split(8):
        images = data[index]
        optimizer.zero_grad()
        output = model(images.unsqueeze(1))
        loss = reconstruction_loss(output.squeeze(1), images)
        loss.backward()
        optimizer.step()
    print("epoch", epoch, round(loss.item(), 3))
