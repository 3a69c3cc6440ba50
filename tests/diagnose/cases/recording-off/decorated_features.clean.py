"""The feature helper was decorated when it was only used for evaluation."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(29)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 4))

    def embed(self, x):
        return F.normalize(self.net(x), dim=-1)

    def loss(self, a, p, n):
        a, p, n = map(self.embed, (a, p, n))
        return F.triplet_margin_loss(a, p, n, margin=0.3)


m = Siamese()
opt = torch.optim.Adam(m.parameters())
for _ in range(4):
    a = torch.randn(16, 7)
    loss = m.loss(a, a + 0.1 * torch.randn_like(a), torch.randn(16, 7))
    opt.zero_grad()
    loss.backward()
    opt.step()
print("embedded")
