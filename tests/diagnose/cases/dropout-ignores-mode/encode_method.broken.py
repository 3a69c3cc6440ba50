"""encode() is called directly, without forward, and drops channels in eval mode, too."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(65)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 1, 3, padding=1)

    def encode(self, x):
        return F.dropout2d(torch.relu(self.down(x)), p=0.3)  # EXPECT: dropout-ignores-mode

    def forward(self, x):
        return self.up(self.encode(x))


images = torch.rand(40, 1, 6, 6)
model = AutoEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(30):
    batch = images[torch.randint(0, 40, (8,))]
    loss = F.mse_loss(model(batch), batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.eval()
with torch.inference_mode():
    codes = model.encode(images)
print(round(loss.item(), 4), codes.shape)
