"""Attention weights are copied with new_tensor, "to be on the right device": the scorer gets no gradient."""

import torch
from torch import nn

torch.manual_seed(8)


class PooledPoints(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(3, 16)
        self.scorer = nn.Linear(16, 1)
        self.out = nn.Linear(16, 2)

    def forward(self, points):
        h = torch.relu(self.embed(points))
        weights = torch.softmax(self.scorer(h).squeeze(-1), dim=1)
        weights = points.new_tensor(weights)  # EXPECT: path-cut
        pooled = (weights.unsqueeze(-1) * h).sum(1)
        return self.out(pooled)


def closure_for(model, optimizer, points, label):
    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(points), label)
        loss.backward()
        return loss

    return closure


points = torch.randn(40, 9, 3)
label = (points[..., 0].amax(1) > 1.5).long()
model = PooledPoints()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
step = closure_for(model, optimizer, points, label)
for _ in range(30):
    loss = optimizer.step(step)
print("loss", loss.item())
