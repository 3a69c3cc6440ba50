"""A Gaussian likelihood on noise-free data lets the predicted variance shrink without bound: gradients explode."""
import math
import torch
from torch import nn

torch.manual_seed(53)


class Heteroscedastic(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Linear(3, 1)
        self.log_var = nn.Parameter(torch.zeros(1))

    def negative_log_likelihood(self, x, y):
        log_var = self.log_var
        error = y - self.mean(x)
        return 0.5 * (error.pow(2) * torch.exp(-log_var) + log_var + math.log(2 * math.pi)).mean()


x = torch.randn(128, 3)
y = x @ torch.tensor([[0.5], [-1.0], [2.0]]) + 0.3
model = Heteroscedastic()
optimizer = torch.optim.Adam([
    {"params": model.mean.parameters(), "lr": 0.05}, {"params": [model.log_var], "lr": 0.15}])
for step in range(150):
    rows = torch.randint(0, 128, (32,))
    nll = model.negative_log_likelihood(x[rows], y[rows])
    optimizer.zero_grad()
    nll.backward()  # EXPECT: gradient-spikes
    optimizer.step()
    if step % 30 == 29:
        print(step, nll.item(), "log variance", model.log_var.item())
