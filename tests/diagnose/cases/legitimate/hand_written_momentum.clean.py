"""Parameters are plain tensors, the update with momentum is written by hand, for a long time."""
import torch

torch.manual_seed(23)
w1 = (torch.randn(4, 16) * 0.5).requires_grad_()
b1 = torch.zeros(16, requires_grad=True)
w2 = (torch.randn(16, 1) * 0.3).requires_grad_()
params = [w1, b1, w2]
velocity = [torch.zeros_like(p) for p in params]
for step in range(400):
    x = torch.randn(32, 4)
    loss = (torch.relu(x @ w1 + b1) @ w2 - x.abs().sum(1, keepdim=True)).pow(2).mean()
    for p in params:
        p.grad = None
    loss.backward()
    with torch.no_grad():
        for p, v in zip(params, velocity):
            v.mul_(0.9).add_(p.grad)
            p -= 0.005 * v
    if step % 100 == 99:
        print(step, round(loss.item(), 1) >= 0)
