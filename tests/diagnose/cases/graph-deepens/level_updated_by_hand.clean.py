"""A leaky average inside of the loss; the weights are updated by hand from autograd.grad."""
import torch

torch.manual_seed(61)
w, b = torch.zeros(5, requires_grad=True), torch.zeros((), requires_grad=True)
level = torch.zeros(())
for t in range(80):
    x = torch.randn(30, 5)
    out = x @ w + b
    level = 0.8 * level.detach() + 0.2 * out.mean()
    loss = (out - x[:, 0]).square().mean() + 0.1 * level.square()
    gw, gb = torch.autograd.grad(loss, (w, b))
    with torch.no_grad():
        w -= 0.05 * gw
        b -= 0.05 * gb
print("ok")
