"""Legitimate twin: NumPy looks at one part of what indexing saved another part of, and writes nothing."""
import numpy as np
import torch

torch.manual_seed(21)
edges = torch.randint(0, 12, (2, 40))
nodes = torch.randn(12, 4, requires_grad=True)
optimizer = torch.optim.SGD([nodes], lr=0.05)

for step in range(20):
    near = (nodes[edges[0, :30]] - nodes[edges[1, :30]]).pow(2).sum(1)
    far = (nodes[edges[0, 30:]] - nodes[edges[1, 30:]]).pow(2).sum(1)
    loss = near.mean() + torch.relu(2 - far).mean()
    degrees = np.bincount(edges[0].numpy(), minlength=12)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4), "largest degree", degrees.max())
