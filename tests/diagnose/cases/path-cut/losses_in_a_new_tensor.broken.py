"""the losses of the tasks are put into a new tensor that requires a gradient: it is differentiated, the model is not."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(81)


def task_losses(model, x, targets):
    hidden = model["trunk"](x)
    return [F.mse_loss(head(hidden).squeeze(1), target) for head, target in zip(model["heads"], targets)]


x = torch.randn(120, 7)
targets = [x[:, 0] * x[:, 1], x[:, 2].abs()]
model = nn.ModuleDict({
    "trunk": nn.Sequential(nn.Linear(7, 16), nn.SiLU()),
    "heads": nn.ModuleList([nn.Linear(16, 1), nn.Linear(16, 1)]),
})
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    rows = torch.randint(0, 120, (30,))
    losses = task_losses(model, x[rows], [t[rows] for t in targets])
    total = torch.tensor(losses, requires_grad=True).mean()  # EXPECT: path-cut
    optimizer.zero_grad()
    total.backward()
    optimizer.step()  # MAY: step-without-gradient
    if step % 10 == 0:
        print(step, torch.tensor([l.item() for l in losses]).tolist())
