"""the learning rate is scaled to the batch size with // instead of /, which gives 0.0."""
import torch
from torch import nn

torch.manual_seed(20)
CONFIG = {"base_lr": 0.1, "batch_size": 32, "reference_batch": 64}


def scaled_lr(config):
    return config["base_lr"] * (config["batch_size"] // config["reference_batch"])


def build():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))


def train(model, x, y, optimizer):
    for epoch in range(8):
        for idx in torch.randperm(len(x)).split(CONFIG["batch_size"]):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()  # EXPECT: step-without-change
        print("epoch", epoch, "loss", round(loss.item(), 4))


x = torch.randn(128, 1, 9, 9)
x[::2] += 0.5
y = torch.arange(128) % 2
model = build()
train(model, x, y, torch.optim.SGD(model.parameters(), lr=scaled_lr(CONFIG), momentum=0.9))
