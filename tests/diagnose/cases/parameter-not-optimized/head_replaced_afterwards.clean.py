"""Legitimate twin: a linear probe: the backbone is frozen, only the new head is optimized."""
import torch
from torch import nn
import torch.nn.functional as F


class Backbone(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.norm = nn.GroupNorm(2, 8)
        self.fc = nn.Linear(8, classes)

    def forward(self, x):
        h = F.silu(self.norm(self.conv(x))).mean((2, 3))
        return self.fc(h)


def finetune(model, x, y, epochs=8):
    model.requires_grad_(False)
    model.fc = nn.Linear(8, 3)
    optimizer = torch.optim.Adam(model.fc.parameters(), lr=3e-3)
    start = model.fc.weight.detach().clone()
    for epoch in range(epochs):
        for idx in torch.randperm(len(x)).split(24):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
    print("loss", loss.item(), "head moved", (model.fc.weight - start).abs().max().item())


if __name__ == "__main__":
    torch.manual_seed(16)
    images = torch.randn(96, 1, 8, 8)
    finetune(Backbone(), images, images.mean((1, 2, 3)).argsort().argsort() % 3)
