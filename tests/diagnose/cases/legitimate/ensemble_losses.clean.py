"""Must stay silent: twelve members with an optimizer each; the losses of one round are kept until it is over."""
import torch
from torch import nn

torch.manual_seed(55)
members = [nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)) for _ in range(12)]
optimizers = [torch.optim.Adam(member.parameters(), lr=1e-2) for member in members]
for step in range(8):
    x = torch.randn(16, 3)
    losses = []
    for member, optimizer in zip(members, optimizers):
        loss = (member(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    print("step", step, "mean", round(sum(loss.item() for loss in losses) / 12, 4))
