"""Legitimate twin: He initialisation; a second embedding table has rows that no sample uses."""
import torch
from torch import nn

torch.manual_seed(45)


def init_weights(module):
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        nn.init.zeros_(module.bias)


class ConvStack(nn.Module):
    def __init__(self, width=6, depth=9):
        super().__init__()
        layers = [nn.Conv2d(1, width, 3, padding=1)]
        for _ in range(depth - 1):
            layers += [nn.LeakyReLU(0.1), nn.Conv2d(width, width, 3, padding=1)]
        self.features = nn.Sequential(*layers)
        self.camera = nn.Embedding(30, width)
        self.head = nn.Linear(width, 2)
        self.apply(init_weights)

    def forward(self, x, camera):
        h = self.features(x).mean((2, 3))
        h = h + self.camera(camera)
        return self.head(h)


model = ConvStack()
optimizer = torch.optim.Adam([p for p in model.parameters()], lr=2e-4)
images = torch.randn(64, 1, 6, 6)
labels = (images.mean((1, 2, 3)) > 0).long()
cameras = torch.arange(64) % 3
for step in range(80):
    index = torch.randint(0, 64, (8,))
    loss = nn.functional.cross_entropy(model(images[index], cameras[index]), labels[index])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item(), "first kernel's gradient", model.features[0].weight.grad.norm().item())
