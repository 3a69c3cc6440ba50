"""A relu behind the last layer of a regression with negative targets."""
import torch
from torch import nn

torch.manual_seed(60)
layers = [nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2)]
layers.append(nn.ReLU())
model = nn.Sequential(*layers)
opt = torch.optim.Adam(model.parameters(), 2e-2)
for _ in range(200):
    x = torch.rand(64, 3)
    y = -5 - x[:, :2]
    loss = nn.functional.l1_loss(model(x), y)  # EXPECT: dead-units # MAY: gradient-vanishes
    opt.zero_grad()
    loss.backward()  # MAY: gradient-vanishes
    opt.step()
print("model")
