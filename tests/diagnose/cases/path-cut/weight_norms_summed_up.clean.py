"""Legitimate twin: the penalty is computed with tensors; the numbers are for the log."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(83)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(9, 14), nn.Linear(14, 14), nn.Linear(14, 3)])

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.elu(layer(x))
        return self.layers[-1](x)


x = torch.randn(150, 9)
y = x[:, :3].argmax(1)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(6):
    for rows in torch.randperm(150).split(25):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        decay = 0.0
        for layer in model.layers:
            decay += (layer.weight**2).sum().item()
        loss += 0.5 * 1e-2 * sum((layer.weight**2).sum() for layer in model.layers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, "loss", round(loss.item(), 4), "decay", round(float(decay), 4))
