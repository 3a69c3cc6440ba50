"""Whenever the loss improves, an example output is exported in eval mode; the loop sets train() each time. The norm of
the pretrained stem stays in eval mode on purpose, from the first step."""
import torch
from torch import nn

torch.manual_seed(33)
x = torch.randn(256, 14)
y = torch.tanh(x[:, :2].prod(1, keepdim=True))


def block(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ELU())


stem, body, head = block(14, 24), block(24, 24), nn.Sequential(nn.Dropout(0.25), nn.Linear(24, 1))
model = nn.ModuleDict({"stem": stem, "body": body, "head": head})


def run(inputs):
    for part in model.values():
        inputs = part(inputs)
    return inputs


def export(sample):
    model.eval()
    with torch.no_grad():
        return run(sample).flatten().tolist()


optimizer = torch.optim.SGD([{"params": stem.parameters(), "lr": 1e-3}, {"params": body.parameters()},
                             {"params": head.parameters()}], lr=0.02, momentum=0.9)
best, patience, step = float("inf"), 40, 0
while patience and step < 90:
    model.train()
    stem[1].eval()
    rows = torch.randint(0, 256, (32,))
    loss = nn.functional.mse_loss(run(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if loss.item() < best - 1e-3:
        best, patience = loss.item(), 40
        exported = export(x[:4])
    else:
        patience -= 1
print("best", round(best, 4), "steps", step, "example", round(exported[0], 3))
