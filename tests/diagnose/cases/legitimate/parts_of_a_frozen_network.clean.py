"""Must stay silent: a model is built of the parts of a network that was frozen as a whole, but for its last layer."""

import torch
from torch import nn

torch.manual_seed(8)
network = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 10))
for p in network.parameters():
    p.requires_grad = False
model = nn.Sequential(*list(network.children())[:-1], nn.Linear(16, 3))
opt = torch.optim.Adam(model.parameters(), 1e-2)
for _ in range(60):
    x = torch.randn(32, 6)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
