"""Must stay silent: full-batch least squares run past convergence; updates fall below float precision, norms are noise."""
import torch

torch.manual_seed(182)
x = torch.randn(100, 3)
y = x @ torch.tensor([[1.5], [-2.0], [0.3]]) + 0.7
w = torch.zeros(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([w, b], lr=0.1)
for step in range(150):
    loss = ((x @ w + b - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(step, loss.item(), "gradient", w.grad.norm().item())
print([round(v, 4) for v in w.flatten().tolist()], round(b.item(), 4))
