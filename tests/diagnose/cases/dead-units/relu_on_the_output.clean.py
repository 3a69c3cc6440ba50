"""Legitimate twin: ReLU on the output of a rate that is positive."""
import torch
from torch import nn

torch.manual_seed(63)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, x):
        return torch.relu(self.body(x))


temperature = torch.randn(200, 5)
y = temperature.sum(1, keepdim=True).abs() * 0.3 + 1.0
model = Regressor()
with torch.no_grad():
    model.body[2].bias.fill_(0.5)
optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3)
for epoch in range(12):
    for rows in torch.randperm(200).split(20):
        prediction = model(temperature[rows])
        loss = nn.functional.mse_loss(prediction, y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "mse", round(loss.item(), 4))
