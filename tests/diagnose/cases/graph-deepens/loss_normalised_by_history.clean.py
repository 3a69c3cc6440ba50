"""Legitimate twin: the running averages are detached; a learned initial state is expanded afresh at every step."""
import torch
from torch import nn

torch.manual_seed(36)


class TwoTasks(nn.Module):
    def __init__(self):
        super().__init__()
        self.size = nn.Linear(7, 1)
        self.kind = nn.Linear(7, 3)
        self.start = nn.Parameter(torch.zeros(1, 7))

    def forward(self, x):
        x = x + self.start.expand(len(x), -1)
        return self.size(x), self.kind(x)


x = torch.randn(210, 7)
size, kind = 4 * x[:, :1] + x[:, 1:2], x[:, 2:5].argmax(1)
model = TwoTasks()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
averages = [torch.ones(()), torch.ones(())]
for step in range(45):
    idx = torch.randint(0, 210, (30,))
    pred_size, pred_kind = model(x[idx])
    losses = [nn.functional.mse_loss(pred_size, size[idx]), nn.functional.cross_entropy(pred_kind, kind[idx])]
    total = 0
    for i, task_loss in enumerate(losses):
        averages[i] = 0.9 * averages[i] + 0.1 * task_loss.detach()
        total = total + task_loss / averages[i]
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    if step % 15 == 14:
        print("step", step, [round(v.item(), 4) for v in losses])
