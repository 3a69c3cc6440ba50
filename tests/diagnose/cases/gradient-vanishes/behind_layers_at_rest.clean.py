"""Twin: three layers with tanh."""
import torch
from torch import nn

torch.manual_seed(29)


def mlp(depth, width, act):
    layers = [nn.Linear(5, width), act()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), act()]
    return nn.Sequential(*layers, nn.Linear(width, 1))


model = mlp(3, 16, nn.Tanh)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(64, 5)
y = (x[:, :1] * 1.5).sin() + 1
for step in range(120):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(step, round(loss.item(), 4))
