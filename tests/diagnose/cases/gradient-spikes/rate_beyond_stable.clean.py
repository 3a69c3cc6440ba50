"""A learning rate beyond what is stable: the gradient grows with every step."""
import torch
from torch import nn


class Runner:
    def __init__(self, lr):
        torch.manual_seed(0)
        self.net = nn.Linear(8, 8)
        self.opt = torch.optim.SGD(self.net.parameters(), lr)

    def run(self, n):
        x = torch.randn(64, 8)
        for _ in range(n):
            self.opt.zero_grad()
            loss = ((self.net(x) - x.roll(1, 1)) ** 2).sum(1).mean()
            loss.backward()
            self.opt.step()
        return loss


print(Runner(0.05).run(60) > 1)
