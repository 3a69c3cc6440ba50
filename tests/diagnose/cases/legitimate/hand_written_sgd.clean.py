"""Must stay silent: gradient descent by hand on bare tensors, with grad.zero_() after each update."""
import torch

torch.manual_seed(149)
x = torch.linspace(-2, 2, 60).unsqueeze(1)
y = 0.5 * x**2 - x + 0.2 * torch.randn(60, 1)
w1 = (torch.randn(1, 10) * 0.7).requires_grad_()
b1 = torch.zeros(10, requires_grad=True)
w2 = (torch.randn(10, 1) * 0.3).requires_grad_()
b2 = torch.zeros(1, requires_grad=True)
parameters = [w1, b1, w2, b2]
for step in range(80):
    hidden = torch.tanh(x @ w1 + b1)
    loss = ((hidden @ w2 + b2 - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in parameters:
            p -= 0.05 * p.grad
            p.grad.zero_()
    if step % 20 == 19:
        print(step, round(loss.item(), 4))
