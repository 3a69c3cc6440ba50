"""A network that writes updates is trained through short unrolled trainings of small problems."""
import torch
import torch.nn as nn

torch.manual_seed(15)
rule = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
meta = torch.optim.Adam(rule.parameters(), 3e-3)
for outer in range(50):
    target = torch.randn(4)
    w = torch.zeros(4, requires_grad=True)
    momentum = torch.zeros(4)
    total = 0.0
    for inner in range(6):
        loss = (w - target).pow(2).sum()
        total = total + loss
        (g,) = torch.autograd.grad(loss, w, create_graph=True)
        momentum = 0.8 * momentum + g
        w = w - 0.3 * rule(torch.stack([g, momentum], -1)).squeeze(-1) - 0.05 * g
    total = total + (w - target).pow(2).sum()
    meta.zero_grad()
    total.backward()
    meta.step()
    if outer % 10 == 9:
        print(outer, round(total.item(), 2))
