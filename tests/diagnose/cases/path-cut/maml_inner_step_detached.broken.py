"""MAML: the inner gradient is computed without create_graph, so the learnable inner rates see no gradient."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(41)
weight = nn.Parameter(torch.randn(5) * 0.1)
rate = nn.Parameter(torch.full((5,), 0.1))
meta = torch.optim.Adam([weight, rate], lr=1e-2)
for task in range(40):
    true = torch.randn(5)
    xs, xq = torch.randn(10, 5), torch.randn(10, 5)
    inner = F.mse_loss(xs @ weight, xs @ true)
    (g,) = torch.autograd.grad(inner, weight, create_graph=True)
    fast = weight - rate.detach() * g  # EXPECT: path-cut
    outer = F.mse_loss(xq @ fast, xq @ true)
    meta.zero_grad()
    outer.backward()
    meta.step()
print(outer.item() >= 0)
