"""A trainer as a dataclass with callbacks: logging, checkpoints in memory, early stopping."""
import io
from dataclasses import dataclass, field
from typing import Callable
import torch
import torch.nn as nn

torch.manual_seed(2)


@dataclass
class State:
    epoch: int = 0
    step: int = 0
    best: float = float("inf")
    stop: bool = False
    logs: list = field(default_factory=list)


@dataclass
class Trainer:
    model: nn.Module
    optimizer: torch.optim.Optimizer
    loss_fn: Callable
    callbacks: list = field(default_factory=list)
    state: State = field(default_factory=State)

    def call(self, hook, **kw):
        for cb in self.callbacks:
            getattr(cb, hook, lambda *a, **k: None)(self, **kw)

    def fit(self, train, val, epochs):
        for self.state.epoch in range(epochs):
            self.model.train()
            for x, y in train():
                loss = self.training_step(x, y)
                self.call("on_step", loss=loss)
            val_loss = self.evaluate(val)
            self.call("on_epoch", val_loss=val_loss)
            if self.state.stop:
                break

    def training_step(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_fn(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.state.step += 1
        return loss.detach()

    @torch.no_grad()
    def evaluate(self, val):
        self.model.eval()
        total = [self.loss_fn(self.model(x), y) for x, y in val()]
        return torch.stack(total).mean().item()


class Logger:
    def on_step(self, trainer, loss):
        trainer.state.logs.append(loss.item())


class Checkpoint:
    def __init__(self):
        self.buffer = None

    def on_epoch(self, trainer, val_loss):
        if val_loss < trainer.state.best:
            trainer.state.best = val_loss
            self.buffer = io.BytesIO()
            torch.save({"model": trainer.model.state_dict(), "opt": trainer.optimizer.state_dict()}, self.buffer)


class EarlyStop:
    def __init__(self, patience=3):
        self.patience, self.bad = patience, 0

    def on_epoch(self, trainer, val_loss):
        self.bad = 0 if val_loss <= trainer.state.best else self.bad + 1
        trainer.state.stop = self.bad >= self.patience


w = torch.randn(7, 1)


def batches(n):
    def gen():
        for _ in range(n):
            x = torch.randn(16, 7)
            yield x, x @ w
    return gen


model = nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))
ckpt = Checkpoint()
trainer = Trainer(model, torch.optim.Adam(model.parameters(), 5e-3), nn.MSELoss(), [Logger(), ckpt, EarlyStop()])
trainer.fit(batches(12), batches(3), 8)
ckpt.buffer.seek(0)
model.load_state_dict(torch.load(ckpt.buffer, weights_only=True)["model"])
print(trainer.state.epoch, trainer.state.step, round(trainer.evaluate(batches(3)), 3) < 20)
