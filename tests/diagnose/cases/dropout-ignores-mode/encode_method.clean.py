"""Legitimate twin: a flag of its own asks for dropout in eval mode (Monte-Carlo), and it is part of the training argument."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(65)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 1, 3, padding=1)
        self.sampling = False

    def encode(self, x):
        return F.dropout2d(torch.relu(self.down(x)), p=0.3, training=self.training or self.sampling)

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
model.sampling = True
with torch.inference_mode():
    codes = torch.stack([model.encode(images) for _ in range(10)])
print(round(loss.item(), 4), codes.std(0).mean().item())
