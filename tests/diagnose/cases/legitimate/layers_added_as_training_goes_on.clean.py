"""Must stay silent: a network grows by a layer now and then, and the optimizer is given each of them."""
import torch
from torch import nn

torch.manual_seed(13)
layers = nn.ModuleList([nn.Linear(4, 4)])
head = nn.Linear(4, 1)
optimizer = torch.optim.Adam([*layers.parameters(), *head.parameters()], lr=1e-3)
for step in range(340):
    if step in (110, 220, 300):
        layer = nn.Linear(4, 4)
        nn.init.eye_(layer.weight)
        nn.init.zeros_(layer.bias)
        layers.append(layer)
        optimizer.add_param_group({"params": layer.parameters()})
    x = torch.randn(8, 4)
    hidden = x
    for layer in layers:
        hidden = torch.tanh(layer(hidden))
    loss = (head(hidden) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
