"""zero_grad() stands in the loop over tasks, step() after it: only the last task's gradient survives (RAE#67)."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(111)
TASKS = ("depth", "normal", "class")


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(9, 32), nn.SiLU())
        self.heads = nn.ModuleDict({"depth": nn.Linear(32, 1), "normal": nn.Linear(32, 3), "class": nn.Linear(32, 5)})

    def forward(self, x, task):
        return self.heads[task](self.body(x))


def loss_for(task, out, target):
    return F.cross_entropy(out, target) if task == "class" else F.l1_loss(out, target)


def run(steps=30):
    model = Shared()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    x = torch.randn(50, 9)
    targets = {"depth": x.norm(dim=1, keepdim=True), "normal": F.normalize(x[:, :3], dim=1), "class": x[:, :5].argmax(1)}
    for step in range(steps):
        report = {}
        for task in TASKS:
            optimizer.zero_grad()  # EXPECT: gradient-discarded
            loss = loss_for(task, model(x, task), targets[task])
            loss.backward()  # ALSO: gradient-discarded
            report[task] = loss.item()
        optimizer.step()
    return report


print({k: round(v, 3) for k, v in run().items()})
