"""parameters in a dictionary are updated through .data; their gradients are zeroed in the same loop."""
import math

import torch

torch.manual_seed(103)


def initialise(sizes):
    params = {}
    for number, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:])):
        params[f"w{number}"] = (torch.randn(fan_in, fan_out) / math.sqrt(fan_in)).requires_grad_()
        params[f"b{number}"] = torch.zeros(fan_out, requires_grad=True)
    return params


def network(params, x):
    hidden = torch.tanh(x @ params["w0"] + params["b0"])
    return hidden @ params["w1"] + params["b1"]


def apply_updates(params, rate):
    for value in params.values():
        value.data.sub_(rate * value.grad.data)
        value.grad.data.zero_()


x = torch.linspace(-2, 2, 80).unsqueeze(1)
y = torch.sin(2 * x)
params = initialise([1, 16, 1])
first = last = None
iteration = 0
while iteration < 60:
    loss = ((network(params, x) - y) ** 2).mean()
    loss.backward()
    apply_updates(params, 0.02)
    first = first if first is not None else loss.item()
    last = loss.item()
    iteration += 1
print(f"{first:.4f} -> {last:.4f}")
