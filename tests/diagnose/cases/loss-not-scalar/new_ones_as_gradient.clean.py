"""the gradient argument holds each sample's share, and the shares sum to one."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(173)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(16, 4)
        self.decode = nn.Linear(4, 16)

    def forward(self, x):
        return self.decode(torch.relu(self.encode(x)))


def reconstruction(model, x):
    return F.mse_loss(model(x), x, reduction="none").mean(dim=1)


model = Autoencoder()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = torch.rand(96, 16)
history = []
for epoch in range(6):
    for rows in torch.randperm(96).split(24):
        loss = reconstruction(model, data[rows])
        optimizer.zero_grad()
        loss.backward(gradient=loss.new_ones(loss.size(0)) / loss.size(0))
        optimizer.step()
        history.append(loss.mean().item())
print(round(history[0], 4), round(history[-1], 4))
