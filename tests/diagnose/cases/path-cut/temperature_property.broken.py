"""A learned temperature is read through a property that gives a number."""
import math

import torch
from torch import nn


class Contrastive(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(6, 8)
        self.log_scale = nn.Parameter(torch.tensor(1.0))

    @property
    def scale(self):
        return math.exp(self.log_scale)  # EXPECT: path-cut

    def forward(self, a, b):
        a, b = nn.functional.normalize(self.encode(a), dim=1), nn.functional.normalize(self.encode(b), dim=1)
        return self.scale * a @ b.t()


torch.manual_seed(0)
model = Contrastive()
opt = torch.optim.Adam(model.parameters(), 1e-2)
for i in range(40):
    x = torch.randn(16, 6)
    logits = model(x, x + 0.1 * torch.randn_like(x))
    loss = nn.functional.cross_entropy(logits, torch.arange(16))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
