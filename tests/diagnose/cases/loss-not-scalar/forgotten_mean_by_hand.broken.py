"""a regression written by hand on two tensors: the squared error is never reduced and backward() refuses."""
import torch

torch.manual_seed(5)
n = 120
temperature = torch.linspace(-2, 2, n)
sales = 3.0 * temperature - 1.0 + 0.2 * torch.randn(n)

slope = torch.zeros(1, requires_grad=True)
intercept = torch.zeros(1, requires_grad=True)
lr = 0.1


def model(t):
    return slope * t + intercept


for step in range(60):
    error = model(temperature) - sales
    loss = error ** 2  # EXPECT-ERROR: loss-not-scalar
    loss.backward()  # ALSO: loss-not-scalar
    with torch.no_grad():
        slope -= lr * slope.grad
        intercept -= lr * intercept.grad
    slope.grad = None
    intercept.grad = None
print("slope", slope.item(), "intercept", intercept.item(), "loss", loss.mean().item())
