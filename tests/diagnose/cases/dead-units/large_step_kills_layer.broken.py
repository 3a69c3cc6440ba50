"""A far too large first step throws the convolution's pre-activations below zero for good."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(62)


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(32, 1)

    def forward(self, x):
        x = self.pool(nn.functional.leaky_relu(self.conv1(x)))
        x = nn.functional.relu(self.conv2(x))  # EXPECT: dead-units
        x = self.pool(x)
        return self.fc(x.flatten(1))


def train(model, loader, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(10):
        for image, brightness in loader:
            loss = nn.functional.mse_loss(model(image), brightness)
            optimizer.zero_grad()
            loss.backward()  # MAY: gradient-vanishes
            optimizer.step()
        print("epoch", epoch, round(loss.item(), 4))


images = torch.rand(128, 1, 8, 8)
targets = images.mean((1, 2, 3)).unsqueeze(1) * 20
train(SmallCNN(), DataLoader(TensorDataset(images, targets), batch_size=16), lr=0.1)
