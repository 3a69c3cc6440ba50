"""Functional SGD with autograd.grad; the graph is kept because a second quantity is differentiated."""
import torch

torch.manual_seed(23)


def init(sizes):
    params = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        weight = (torch.randn(fan_in, fan_out) / fan_in**0.5).requires_grad_()
        params += [weight, torch.zeros(fan_out, requires_grad=True)]
    return params


def apply(params, x):
    for weight, bias in zip(params[:-2:2], params[1:-2:2]):
        x = torch.tanh(x @ weight + bias)
    return x @ params[-2] + params[-1]


def update(params, grads, lr):
    with torch.no_grad():
        for param, grad in zip(params, grads):
            param -= lr * grad


x = torch.linspace(-1, 1, 64).unsqueeze(1)
y = x.abs()
params = init([1, 24, 1])
for step in range(20):
    prediction = apply(params, x)
    loss = (prediction - y).square().mean()
    grads = torch.autograd.grad(loss, params, retain_graph=True)
    middle = torch.autograd.grad(prediction[32, 0], params)
    grads = [g + 0.01 * m for g, m in zip(grads, middle)]
    update(params, grads, lr=0.1)
print("loss", round(loss.item(), 4))
