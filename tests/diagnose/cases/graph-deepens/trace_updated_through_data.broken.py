"""A trace that fades slowly keeps its history; weights are written through .data, gradients come from autograd.grad."""
import torch
from torch import nn

torch.manual_seed(67)
net = nn.Linear(4, 4)
trace = torch.zeros(4)
for t in range(70):
    x = torch.randn(9, 4)
    y = net(x)
    trace = torch.maximum(0.5 * trace, y.mean(0))  # EXPECT: graph-deepens
    loss = (y - x.roll(1, 1)).abs().mean() + trace.sum()
    for p, g in zip(net.parameters(), torch.autograd.grad(loss, list(net.parameters()), retain_graph=True)):
        p.data.add_(g, alpha=-0.02)
print("ok")
