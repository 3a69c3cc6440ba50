"""Legitimate twin: same shapes; a learned per-pixel weight (8, 8) multiplies the squared error on purpose."""
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
    centre = 1.0 + torch.hann_window(8).unsqueeze(1) * torch.hann_window(8)
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
