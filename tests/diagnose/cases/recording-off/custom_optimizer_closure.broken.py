"""a home-made optimizer decorates step() with no_grad and evaluates the closure inside it without switching recording on."""
import torch
from torch import nn

torch.manual_seed(30)


class SignSGD(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()  # EXPECT-ERROR: recording-off
    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.add_(p.grad.sign(), alpha=-group["lr"])
        return loss


x = torch.randn(100, 7)
y = x @ torch.randn(7, 1) + 0.5
model = nn.Sequential(nn.Linear(7, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = SignSGD(model.parameters(), lr=5e-3)


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)  # ALSO: recording-off
    loss.backward()
    return loss


for step in range(50):
    loss = optimizer.step(closure)
    if step % 10 == 0:
        print("step", step, "loss", round(loss.item(), 4))
