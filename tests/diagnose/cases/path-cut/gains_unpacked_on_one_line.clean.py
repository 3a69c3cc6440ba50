"""Three gains of an equaliser begin alike and are unpacked on one line."""

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(5)


class Equaliser(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.Parameter(torch.tensor(0.75))
        self.mid = nn.Parameter(torch.tensor(0.75))
        self.high = nn.Parameter(torch.tensor(0.75))
        self.out = nn.Linear(9, 1)

    def forward(self, bands):
        low, mid, high = self.low, self.mid, self.high
        a, b, c = bands.chunk(3, dim=1)
        return self.out(torch.cat([low * a, mid * b, high * c], dim=1))


bands = torch.randn(120, 9)
target = (2 * bands[:, :3] - bands[:, 3:6] + 0.2 * bands[:, 6:]).sum(1, keepdim=True)
model = Equaliser()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(150):
    rows = torch.randint(0, 120, (24,))
    loss = F.mse_loss(model(bands[rows]), target[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
