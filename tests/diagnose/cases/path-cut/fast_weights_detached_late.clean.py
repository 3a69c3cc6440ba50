"""The adapted weights keep their history."""
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(42)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)


def task():
    a, b = torch.rand(2) * 2
    x = torch.rand(20, 1) * 4 - 2
    return x[:10], a * torch.sin(x[:10] + b), x[10:], a * torch.sin(x[10:] + b)


def adapt(xs, ys, lr=0.05):
    names, params = zip(*net.named_parameters())
    loss = nn.functional.mse_loss(net(xs), ys)
    grads = torch.autograd.grad(loss, params, create_graph=True)
    updated = [p - lr * g for p, g in zip(params, grads)]
    return dict(zip(names, updated))


for it in range(450):
    xs, ys, xq, yq = task()
    opt.zero_grad()
    if it < 300:
        loss = nn.functional.mse_loss(net(xq), yq)
    else:
        loss = nn.functional.mse_loss(functional_call(net, adapt(xs, ys), (xq,)), yq)
    loss.backward()
    opt.step()
print(loss.item())
