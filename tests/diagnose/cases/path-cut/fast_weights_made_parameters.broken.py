"""second-order MAML on sine tasks with functional weights."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(12)
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
meta = torch.optim.Adam(net.parameters(), lr=1e-3)


def forward(w, x):
    return F.linear(torch.tanh(F.linear(x, w[0], w[1])), w[2], w[3])


def task():
    a, ph = torch.rand(1) * 4 + 0.5, torch.rand(1) * 3
    return lambda n: (lambda x: (x, a * torch.sin(x + ph)))(torch.rand(n, 1) * 8 - 4)


for it in range(50):
    meta.zero_grad()
    outer = 0.0
    for _ in range(3):
        sample = task()
        w = list(net.parameters())
        for _ in range(2):
            x, y = sample(10)
            inner = F.mse_loss(forward(w, x), y)
            g = torch.autograd.grad(inner, w, create_graph=True)
            w = [nn.Parameter(p - 0.01 * d) for p, d in zip(w, g)]  # EXPECT: path-cut
        x, y = sample(10)
        outer = outer + F.mse_loss(forward(w, x), y)
    (outer / 3).backward()  # MAY: parameter-not-optimized
    meta.step()  # MAY: step-without-gradient
print("ok")
