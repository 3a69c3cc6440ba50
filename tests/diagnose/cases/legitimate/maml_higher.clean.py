"""MAML with functional_call and create_graph; inner updates are out of place."""
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(18)
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
meta = torch.optim.Adam(net.parameters(), lr=1e-2)
for it in range(60):
    meta.zero_grad()
    total = 0.0
    for task in range(3):
        amp, phase = torch.rand(1) * 4 + 0.5, torch.rand(1) * 3
        xs, xq = torch.rand(10, 1) * 6 - 3, torch.rand(10, 1) * 6 - 3
        f = lambda x: amp * torch.sin(x + phase)
        params = dict(net.named_parameters())
        for _ in range(2):
            inner = (functional_call(net, params, (xs,)) - f(xs)).pow(2).mean()
            grads = torch.autograd.grad(inner, params.values(), create_graph=True)
            params = {k: p - 0.02 * g for (k, p), g in zip(params.items(), grads)}
        outer = (functional_call(net, params, (xq,)) - f(xq)).pow(2).mean() / 3
        outer.backward()
        total += outer.item()
    meta.step()
    if it % 20 == 0:
        print(it, f"{total:.3f}")
