"""Pixels are scaled to 0..1."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(30)


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(36, 24)
        self.activation = nn.ReLU()
        self.out = nn.Linear(24, 1)

    def forward(self, image):
        image = image.flatten(1) / 255
        return self.out(self.activation(self.hidden(image)))


images = torch.randint(0, 256, (96, 6, 6)).float()
ink = images.mean((1, 2)) / 255
loader = DataLoader(TensorDataset(images, ink.unsqueeze(1)), batch_size=8, shuffle=True)
model = Digits()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(20):
    for image, value in loader:
        loss = nn.functional.smooth_l1_loss(model(image), value)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("loss", loss.item(), "spread", model(images).std().item())
