"""Must stay silent: first-order MAML where gradients of fast weights are copied to the slow ones."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(6)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
meta = torch.optim.Adam(net.parameters(), lr=1e-3)


def run(w, x):
    return F.linear(torch.tanh(F.linear(x, w[0], w[1])), w[2], w[3])


for it in range(40):
    phase = torch.rand(1) * 3
    x = torch.rand(10, 1) * 6 - 3
    y = torch.sin(x + phase)
    slow = list(net.parameters())
    g = torch.autograd.grad(F.mse_loss(run(slow, x), y), slow)
    fast = [nn.Parameter(p - 0.01 * d) for p, d in zip(slow, g)]
    x = torch.rand(10, 1) * 6 - 3
    F.mse_loss(run(fast, x), torch.sin(x + phase)).backward()
    meta.zero_grad()
    for p, q in zip(slow, fast):
        p.grad = q.grad.clone()
    meta.step()
print("first order")
