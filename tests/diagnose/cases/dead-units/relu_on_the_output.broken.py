"""A ReLU after the last layer of a regression whose targets are mostly negative: the output sticks at zero."""
import torch
from torch import nn

torch.manual_seed(63)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, x):
        return torch.relu(self.body(x))  # EXPECT: dead-units


temperature = torch.randn(200, 5)
y = temperature.sum(1, keepdim=True) * 0.3 - 4.0
model = Regressor()
optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3)
for epoch in range(12):
    for rows in torch.randperm(200).split(20):
        prediction = model(temperature[rows])
        loss = nn.functional.mse_loss(prediction, y[rows])
        optimizer.zero_grad()
        loss.backward()  # MAY: gradient-vanishes
        optimizer.step()
    print("epoch", epoch, "mse", round(loss.item(), 4))
