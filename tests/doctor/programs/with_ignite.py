"""An ignite engine whose evaluation leaves the model in eval mode."""

import sys

import torch
from ignite.engine import Engine, Events
from torch import nn

BROKEN = "clean" not in sys.argv
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
data = [(x, x.sum(1, keepdim=True)) for x in torch.randn(15, 8, 5)]


def update(engine, batch):
    if not BROKEN:
        model.train()
    x, y = batch
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def evaluate(engine, batch):
    x, y = batch
    with torch.no_grad():
        return nn.functional.mse_loss(model(x), y).item()


trainer, evaluator = Engine(update), Engine(evaluate)


@trainer.on(Events.EPOCH_COMPLETED)
def validate(engine):
    model.eval()  # EXPECT: training-in-eval-mode
    evaluator.run(data[:3])


trainer.run(data, max_epochs=4)
print("epochs", trainer.state.epoch)
