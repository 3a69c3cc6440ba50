"""the polynomial schedule was meant per epoch and is stepped per batch: after 10 of 80 batches the rate is 0."""
import torch
from torch import nn
from torch.optim.lr_scheduler import PolynomialLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(143)


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 6, 3, padding=1)
        self.up = nn.Conv2d(6, 2, 1)

    def forward(self, image):
        return self.up(torch.relu(self.down(image)))


epochs = 10
images = torch.rand(32, 1, 6, 6)
masks = (images[:, 0] > 0.5).long()
loader = DataLoader(TensorDataset(images, masks), batch_size=4, shuffle=True)
model = Segmenter()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.0)
schedule = PolynomialLR(optimizer, total_iters=epochs, power=0.9)
for epoch in range(epochs):
    total = 0.0
    for image, mask in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(image), mask)
        loss.backward()
        optimizer.step()  # EXPECT: step-without-change
        schedule.step()
        total += loss.item()
print(f"last epoch {total / len(loader):.4f}")
