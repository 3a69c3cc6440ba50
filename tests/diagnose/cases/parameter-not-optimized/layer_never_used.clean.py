"""Legitimate twin: a mixture of experts: the expert of a task that comes up late is not reached for the first thirty steps."""
import torch
from torch import nn

torch.manual_seed(56)


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layer1 = nn.Linear(6, width)
        self.experts = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])
        self.out = nn.Linear(width, 1)

    def forward(self, x, task):
        x = torch.tanh(self.layer1(x))
        x = torch.tanh(self.experts[task](x))
        return self.out(x)


model = Net()
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
x = torch.randn(128, 6)
targets = torch.stack([x[:, 0] * x[:, 1], x[:, 2].abs(), x[:, 3:].sum(1)])
for step in range(60):
    task = step % 2 if step < 30 else step % 3
    rows = torch.randperm(128)[:32]
    prediction = model(x[rows], task).squeeze(1)
    loss = nn.functional.huber_loss(prediction, targets[task][rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 14:
        print(step, "loss", round(loss.item(), 4))
