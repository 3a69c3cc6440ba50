"""An optimizer of one's own that zeroes the gradients it has used."""
import torch
from torch import nn
class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, dict(lr=lr))
    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            for p in g["params"]:
                p.add_(p.grad, alpha=-g["lr"])
                p.grad.detach_().zero_()
torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = SGD(net.parameters(), 0.01)
for i in range(300):
    x = torch.randn(8, 4)
    loss = net(x).pow(2).mean()
    loss.backward()
    opt.step()
print(loss.item())
