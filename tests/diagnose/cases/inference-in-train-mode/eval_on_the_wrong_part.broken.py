"""only the encoder is put into eval mode before testing; the decoder's dropout goes on sampling."""
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
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()  # EXPECT: inference-in-train-mode


x = torch.randn(96, 1, 8, 8)
y = (F.avg_pool2d(x, 3, 1, 1) > 0).long().squeeze(1)
model = Segmenter()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
for epoch in range(6):
    model.train()
    for idx in torch.randperm(64).split(16):
        loss = F.cross_entropy(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "pixel accuracy", round(test(model, x[64:], y[64:]), 4))
