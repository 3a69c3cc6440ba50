"""Must stay silent: two tasks share a trunk; tasks, heads and optimizers alternate from batch to batch."""
import torch
from torch import nn

torch.manual_seed(148)


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(7, 24), nn.ReLU())
        self.heads = nn.ModuleDict({"age": nn.Linear(24, 1), "kind": nn.Linear(24, 3)})

    def forward(self, x, task):
        return self.heads[task](self.trunk(x))


model = MultiTask()
optimizers = {
    task: torch.optim.Adam([*model.trunk.parameters(), *model.heads[task].parameters()], lr=3e-3)
    for task in ("age", "kind")
}
for step in range(60):
    x = torch.randn(24, 7)
    task = "age" if step % 2 == 0 else "kind"
    if task == "age":
        loss = nn.functional.mse_loss(model(x, task), x[:, :2].sum(1, keepdim=True))
    else:
        loss = nn.functional.cross_entropy(model(x, task), x[:, 2:5].argmax(1))
    optimizers[task].zero_grad()
    loss.backward()
    optimizers[task].step()
    if step % 20 >= 18:
        print(step, task, round(loss.item(), 4))
