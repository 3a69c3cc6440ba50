"""the task heads live in a plain dict, so parameters() does not list them."""
import torch
from torch import nn
import torch.nn.functional as F


class MultiHead(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.tasks = dict(tasks)
        self.trunk = nn.Sequential(nn.Linear(8, 20), nn.Tanh())
        self.heads = {name: nn.Linear(20, size) for name, size in tasks.items()}  # EXPECT: parameter-unregistered

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}


def train_step(model, optimizer, x, targets):
    outputs = model(x)
    losses = {name: F.cross_entropy(outputs[name], targets[name]) for name in outputs}
    total = sum(losses.values())
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    return {name: round(value.item(), 4) for name, value in losses.items()}


torch.manual_seed(18)
x = torch.randn(140, 8)
targets = {"colour": x[:, :3].argmax(1), "shape": x[:, 3:8].argmax(1)}
model = MultiHead({"colour": 3, "shape": 5})
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)  # MAY: parameter-not-optimized
for step in range(40):
    rows = torch.randint(0, 140, (28,))
    losses = train_step(model, optimizer, x[rows], {k: v[rows] for k, v in targets.items()})
print(losses, "parameters", len(list(model.parameters())))
