"""Every ten steps the gradient norm of each layer for a fixed batch is reported; these gradients are thrown away."""
import torch
import torch.nn as nn

torch.manual_seed(10)
net = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), 3e-3)
probe = torch.randn(64, 5)


def report():
    net.zero_grad()
    (net(probe) - probe.sum(1, keepdim=True)).pow(2).mean().backward()
    norms = {n: p.grad.norm().item() for n, p in net.named_parameters() if p.dim() > 1}
    net.zero_grad()
    return norms


for step in range(50):
    x = torch.randn(16, 5)
    opt.zero_grad()
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print(step, len(report()))
