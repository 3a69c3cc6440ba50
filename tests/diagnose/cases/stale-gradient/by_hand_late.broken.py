"""Whoever updates by hand stops clearing at step 300."""
import torch

torch.manual_seed(109)
w = torch.randn(5, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr = 0.05
for step in range(480):
    x = torch.randn(16, 5)
    y = x.sum(1, keepdim=True)
    loss = (x @ w + b - y).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        if step == 300:
            lr = 0.005
        w -= lr * w.grad  # EXPECT: stale-gradient
        b -= lr * b.grad  # EXPECT: stale-gradient
        if step < 300:
            w.grad.zero_()
            b.grad.zero_()
print(loss.item())
