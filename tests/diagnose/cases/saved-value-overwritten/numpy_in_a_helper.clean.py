"""Legitimate twin: the helper gets a copy."""
import numpy as np
import torch

torch.manual_seed(16)
weight = (0.1 * torch.randn(3, 3)).requires_grad_()
optimizer = torch.optim.SGD([weight], lr=0.05)
x = torch.randn(20, 3)


def limit(values, top):
    np.minimum(values, top, out=values)


for step in range(20):
    rates = torch.exp(x @ weight)
    shown = rates.detach().numpy().copy()
    limit(shown, 0.9)
    loss = (rates - 1.5).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4), "largest rate", round(float(shown.max()), 3))
