"""the learnable temperature of a contrastive loss is turned into a Python number."""
import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(8)


class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(12, 8)
        self.text = nn.Linear(9, 8)
        self.log_scale = nn.Parameter(torch.tensor(math.log(10.0)))

    def forward(self, a, b):
        u = F.normalize(self.image(a), dim=-1)
        v = F.normalize(self.text(b), dim=-1)
        return u @ v.t() * self.log_scale.exp()


model = TwoTowers()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(40):
    a = torch.randn(24, 12)
    b = a[:, :9] + 0.1 * torch.randn(24, 9)
    sim = model(a, b)
    labels = torch.arange(24)
    loss = (F.cross_entropy(sim, labels) + F.cross_entropy(sim.t(), labels)) / 2
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
