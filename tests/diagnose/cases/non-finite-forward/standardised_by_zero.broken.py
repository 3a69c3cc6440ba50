"""Features are standardised before training, and one of them never varies: 0 / 0 in the data."""
import torch
from torch import nn

torch.manual_seed(27)

features = torch.randn(90, 6)
features[:, 4] = 3.0
target = features[:, :1] - features[:, 1:2]
features = (features - features.mean(0)) / features.std(0)  # EXPECT: non-finite-forward

model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for epoch in range(6):
    for rows in torch.randperm(90).split(15):
        loss = nn.functional.smooth_l1_loss(model(features[rows]), target[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
