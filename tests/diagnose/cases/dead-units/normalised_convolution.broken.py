"""The shift of a normalisation was loaded with a wrong sign: most channels of the block are below zero for every image."""
import torch
from torch import nn

torch.manual_seed(66)

model = nn.Sequential(
    nn.Conv2d(1, 12, 3),
    nn.BatchNorm2d(12),
    nn.ReLU(inplace=True),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(12, 3),
)
with torch.no_grad():
    model[1].bias[:9] = -12.0

optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(90):
    label = torch.randint(0, 3, (10,))
    images = torch.randn(10, 1, 7, 7) * (1 + label[:, None, None, None])
    scores = model(images)  # EXPECT: dead-units
    loss = nn.functional.cross_entropy(scores, label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 29:
        print(step, round(loss.item(), 4))
