"""an array that shares its memory with the index is sorted in place before backward()."""
import numpy as np
import torch

torch.manual_seed(21)
edges = torch.randint(0, 12, (2, 40))
nodes = torch.randn(12, 4, requires_grad=True)
optimizer = torch.optim.SGD([nodes], lr=0.05)

for step in range(20):
    heads, tails = torch.randint(0, 12, (40,)), edges[1]
    near = (nodes[heads] - nodes[tails]).pow(2).sum(1)  # ALSO: saved-value-overwritten
    loss = near.mean()
    shown = heads.numpy()
    shown.sort()  # EXPECT: saved-value-overwritten
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4), "first", shown[0])
