"""After a while the loop takes the gradient with autograd.grad and never writes it where the optimizer looks."""
import torch
from torch import nn

torch.manual_seed(2)
body = nn.Linear(4, 4)
opt = torch.optim.SGD(body.parameters(), lr=0.1, momentum=0.9)
data = torch.randn(50, 4)


def gradients(loss, params):
    params = list(params)
    grads = torch.autograd.grad(loss, params)
    return grads


for i in range(25):
    loss = (body(data) + data).square().mean()
    opt.zero_grad()
    g = gradients(loss, body.parameters())
    opt.step()  # EXPECT: step-without-gradient
print(len(g))
