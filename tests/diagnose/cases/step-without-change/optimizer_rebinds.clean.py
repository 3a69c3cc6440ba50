"""Legitimate twin: the home-made optimizer writes through p.data, which is an update."""
import torch
from torch import nn


class SignDescent(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.data = p.data - group["lr"] * p.grad.sign()


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(2, 12, batch_first=True)
        self.out = nn.Linear(12, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])


torch.manual_seed(55)
model = Regressor()
optimizer = SignDescent(model.parameters(), lr=2e-3)
x = torch.randn(100, 6, 2)
y = x.mean((1, 2)).unsqueeze(1)
for it in range(50):
    rows = torch.randint(0, 100, (20,))
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 10 == 0:
        print(it, round(loss.item(), 5))
