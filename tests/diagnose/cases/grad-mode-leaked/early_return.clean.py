"""The evaluation returns early, before recording is turned on again; the loop skips steps whose loss needs no gradient."""
import torch
from torch import nn

torch.manual_seed(32)


class Eval:
    def __init__(self, patience):
        self.patience, self.bad, self.best = patience, 0, float("inf")

    def __call__(self, net, x):
        before = torch.is_grad_enabled()
        torch.set_grad_enabled(False)
        value = float((net(x) - x).pow(2).mean())
        if value < self.best:
            self.best = value
            torch.set_grad_enabled(before)
            return True
        self.bad += 1
        torch.set_grad_enabled(before)
        return self.bad < self.patience


net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), 0.05)
check = Eval(3)
x = torch.randn(40, 3)
for epoch in range(6):
    for xb in x.split(10):
        loss = (net(xb) - xb).pow(2).mean()
        if loss.requires_grad:
            opt.zero_grad()
            loss.backward()
            opt.step()
    if not check(net, x):
        break
print("epoch", epoch)
