"""every fifth step hooks of layers and of weights measure another loss, whose gradients are then cleared."""

import torch
from torch import nn

torch.manual_seed(312)
net = nn.Sequential(nn.Linear(6, 14), nn.GELU(), nn.Linear(14, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
shares = []
for step in range(85):
    x = torch.randn(12, 6)
    y = x[:, :4].argmax(1)
    optimizer.zero_grad()
    if step % 5 == 0:
        layer = net[1].register_full_backward_hook(lambda module, given, got: shares.append(got[0].abs().mean().item()))
        weight = net[0].weight.register_hook(lambda gradient: shares.append(gradient.norm().item()))
        net(x).logsumexp(1).mean().backward()
        layer.remove()
        weight.remove()
        optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
print(len(shares), round(loss.item(), 3))
