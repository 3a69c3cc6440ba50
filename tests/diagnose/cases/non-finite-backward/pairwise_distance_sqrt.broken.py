"""Euclidean distances within a batch: the diagonal is sqrt(0), whose derivative is infinite; 0 * inf = nan."""
import torch
from torch import nn

torch.manual_seed(31)


def pairwise_distances(points):
    difference = points.unsqueeze(0) - points.unsqueeze(1)
    squared = difference.pow(2).sum(-1)
    return torch.sqrt(squared)  # EXPECT: non-finite-backward


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 2))

    def forward(self, x):
        return self.layers(x)


x = torch.randn(90, 8)
model = Embedder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(40):
    batch = x[torch.randperm(90)[:24]]
    with torch.no_grad():
        wanted = torch.cdist(batch, batch)
    stress = (pairwise_distances(model(batch)) - wanted).pow(2).mean()
    optimizer.zero_grad()
    stress.backward()
    optimizer.step()
    if step % 10 == 0:
        print("step", step, "stress", stress.item())
