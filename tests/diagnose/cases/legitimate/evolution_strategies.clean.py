"""Must stay silent: an estimate is put into `.grad`; the network itself is only evaluated."""

import torch
from torch import nn

torch.manual_seed(24)
net = nn.Linear(4, 1)
X = torch.randn(64, 4)
Y = X.sum(1, keepdim=True)
flat = nn.utils.parameters_to_vector(net.parameters()).detach()
o = torch.optim.Adam([flat.requires_grad_()], 0.05)
for i in range(40):
    eps = torch.randn(10, flat.numel())
    f = []
    with torch.no_grad():
        for e in eps:
            nn.utils.vector_to_parameters(flat + 0.1 * e, net.parameters())
            f.append(-(net(X) - Y).pow(2).mean())
    f = torch.stack(f)
    f = (f - f.mean()) / f.std()
    flat.grad = -(f[:, None] * eps).mean(0) / 0.1
    o.step()
nn.utils.vector_to_parameters(flat, net.parameters())
print("ok")
