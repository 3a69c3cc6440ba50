"""Legitimate twin: both parts are put into eval mode; a mean teacher that is never trained keeps its dropout on purpose."""
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(29)


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.decoder = nn.Sequential(nn.Dropout2d(0.3), nn.Conv2d(8, 2, 3, padding=1))

    def forward(self, x):
        return self.decoder(self.encoder(x))


def test(model, x, y):
    model.encoder.eval()
    model.decoder.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


x = torch.randn(96, 1, 8, 8)
y = (F.avg_pool2d(x, 3, 1, 1) > 0).long().squeeze(1)
model = Segmenter()
teacher = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
for epoch in range(6):
    model.train()
    for idx in torch.randperm(64).split(16):
        with torch.no_grad():
            soft = teacher(x[idx]).softmax(1)
        logits = model(x[idx])
        loss = F.cross_entropy(logits, y[idx]) + 0.1 * F.mse_loss(logits.softmax(1), soft)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for average, p in zip(teacher.parameters(), model.parameters()):
                average.lerp_(p, 0.05)
    print("epoch", epoch, "pixel accuracy", round(test(model, x[64:], y[64:]), 4))
