"""the backbone is unfrozen after three epochs, but the optimizer was built without it."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(85)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv1d(1, 6, 3), nn.ReLU(), nn.Conv1d(6, 6, 3), nn.ReLU())
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        return self.head(self.backbone(x).mean(2))


def train(model, optimizer, x, y, epochs):
    for epoch in range(epochs):
        for rows in torch.randperm(len(x)).split(12):
            loss = F.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("loss", round(loss.item(), 4))


x = torch.randn(96, 1, 14)
y = (x.amax(2).squeeze(1) > 1.7).long()
model = Detector()
model.backbone.requires_grad_(False)  # ALSO: parameter-not-optimized
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=5e-3)  # EXPECT: parameter-not-optimized
train(model, optimizer, x, y, 3)
model.backbone.requires_grad_(True)
start = model.backbone[0].weight.detach().clone()
train(model, optimizer, x, y, 3)
