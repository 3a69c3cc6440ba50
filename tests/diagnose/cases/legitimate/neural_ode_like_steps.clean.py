"""Must stay silent: neural ode like steps."""
import torch
from torch import nn
torch.manual_seed(62)
f = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.Adam(f.parameters(), 1e-2)
def rk4(y, h):
    k1 = f(y)
    k2 = f(y + h / 2 * k1)
    k3 = f(y + h / 2 * k2)
    k4 = f(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
A = torch.tensor([[-0.1, 1.0], [-1.0, -0.1]])
for _ in range(20):
    y = y0 = torch.randn(16, 2)
    loss = 0
    for k in range(5):
        y = rk4(y, 0.1)
        loss = loss + (y - y0 @ torch.matrix_exp(A * 0.1 * (k + 1)).t()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("ode")
