"""the clip is called before backward(), when the gradients it should limit do not exist yet."""
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(26)


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 8, 3, padding=1)
        self.up = nn.Conv2d(8, 1, 3, padding=1)

    def forward(self, image):
        return self.up(torch.relu(self.down(image)))


image = torch.rand(60, 1, 10, 10)
mask = (nn.functional.avg_pool2d(image, 3, 1, 1) > 0.5).float()
loader = DataLoader(TensorDataset(image, mask), batch_size=12, shuffle=True)
model = Segmenter()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(8):
    for images, masks in loader:
        optimizer.zero_grad()
        loss = criterion(model(images), masks)
        clip_grad_norm_(model.parameters(), 0.05)  # EXPECT: clip-without-effect
        loss.backward()  # ALSO: clip-without-effect
        optimizer.step()
largest = max(p.grad.abs().max().item() for p in model.parameters())
print(f"loss {loss.item():.4f} largest entry of a gradient {largest:.4f}")
