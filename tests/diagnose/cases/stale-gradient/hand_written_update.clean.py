"""Legitimate twin: momentum kept in .grad on purpose, scaled by hand (an explicit write) after every update."""
import torch

torch.manual_seed(5)

x = torch.linspace(-2, 2, 80)
y = 0.7 * x**3 - x + 0.05 * torch.randn(80)
features = torch.stack([torch.ones_like(x), x, x**2, x**3], dim=1)

weights = torch.zeros(4, requires_grad=True)
scale = torch.ones(1, requires_grad=True)
params = [weights, scale]
lr = 0.002


def predict():
    return scale * (features @ weights)


def update():
    with torch.no_grad():
        for p in params:
            p -= lr * p.grad
            p.grad.mul_(0.5)


for it in range(60):
    residual = predict() - y
    loss = (residual**2).mean()
    loss.backward()
    update()
    if it % 20 == 19:
        print(it, "loss", float(loss.detach()))
print("coefficients", [round(v, 3) for v in (scale * weights).tolist()])
