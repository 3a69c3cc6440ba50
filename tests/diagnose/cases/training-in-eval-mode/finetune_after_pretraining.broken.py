"""between pretraining and fine-tuning the model is tested in eval mode; the fine-tuning loop of the same optimizer never calls train()."""
import torch
from torch import nn

torch.manual_seed(40)


def build():
    return nn.Sequential(nn.Linear(8, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, 2))


def train(model, optimizer, x, y, steps):
    for _ in range(steps):
        idx = torch.randint(0, len(x), (16,))
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # ALSO: training-in-eval-mode
    return loss.item()


def report(model, x, y):
    model.eval()  # EXPECT: training-in-eval-mode
    with torch.no_grad():
        print("accuracy", (model(x).argmax(1) == y).float().mean().item())


source, target = torch.randn(200, 8), torch.randn(200, 8) + 1.0
source_y, target_y = (source[:, 0] > 0).long(), (target[:, 0] > 1.0).long()
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train(model, optimizer, source, source_y, steps=40)
report(model, source, source_y)
for group in optimizer.param_groups:
    group["lr"] = 0.02
train(model, optimizer, target, target_y, steps=40)
report(model, target, target_y)
