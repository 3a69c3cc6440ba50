"""The optimizer owns the copy that was made for the average; the model that is trained is another one."""
import copy
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(8)


class Run:
    def __init__(self, make):
        self.online = make()
        self.average = copy.deepcopy(self.online)
        self.optimizer = torch.optim.Adam(self.average.parameters(), lr=1e-2)  # MAY: parameter-not-optimized

    def __call__(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.online(x), y)
        loss.backward()
        self.optimizer.step()  # EXPECT: step-without-gradient
        with torch.no_grad():
            for a, b in zip(self.average.parameters(), self.online.parameters()):
                a.mul_(0.9).add_(b, alpha=0.1)
        return loss.item()


run = Run(lambda: nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)))
x, y = torch.randn(40, 8), torch.arange(40) % 4
history = [run(x, y) for _ in range(30)]
print(len(history))
