"""Must stay silent: after training, gradients with respect to the input are taken for a saliency map, image by image."""
import torch
from torch import nn

torch.manual_seed(118)
model = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.Dropout(0.1), nn.Flatten(), nn.Linear(384, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
images = torch.randn(80, 1, 8, 8)
labels = (images[:, 0, 2:4, 2:4].mean((1, 2)) > 0).long()
for step in range(40):
    rows = torch.randint(0, 80, (16,))
    loss = nn.functional.cross_entropy(model(images[rows]), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
saliency = torch.zeros(8, 8)
for image in images[:12]:
    image = image.unsqueeze(0).clone().requires_grad_(True)
    model.zero_grad()
    score = model(image)[0].max()
    score.backward()
    saliency += image.grad.abs()[0, 0]
print("loss", round(loss.item(), 4), "hottest pixel", divmod(int(saliency.argmax()), 8))
