"""Must stay silent: averaged weights get new batch-norm statistics by passes in train mode whose results nobody uses."""
import copy

import torch
from torch import nn

torch.manual_seed(90)


def recalibrate(model, batches):
    for module in model.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.reset_running_stats()
            module.momentum = None
    model.train()
    with torch.no_grad():
        for batch in batches:
            model(batch)


@torch.no_grad()
def average(target, source, decay=0.9):
    for kept, new in zip(target.parameters(), source.parameters()):
        kept.lerp_(new, 1 - decay)


x = torch.randn(240, 10)
y = x[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(10, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Dropout(0.3), nn.Linear(24, 3))
averaged = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(4):
    for rows in torch.randperm(200).split(20):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
        average(averaged, model)
    recalibrate(model, x[:200].split(50))
    recalibrate(averaged, x[:200].split(50))
    averaged.eval()
    with torch.no_grad():
        accuracy = (averaged(x[200:]).argmax(1) == y[200:]).float().mean().item()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.momentum = 0.1
    print("epoch", epoch, "accuracy", round(accuracy, 3))
