"""An optimizer of one's own forgets the gradients at the end of each step."""
import torch
from torch import nn

torch.manual_seed(157)


class Forgetful(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.add_(p.grad.sign(), alpha=-group["lr"])
                    p.grad = None


net = nn.Sequential(nn.Linear(4, 10), nn.Tanh(), nn.Linear(10, 1))
opt = Forgetful(net.parameters(), 1e-3)
for step in range(60):
    x = torch.randn(20, 4)
    loss = (net(x)[:, 0] - x.prod(1)).square().mean()
    loss.backward()
    opt.step()
print("done")
