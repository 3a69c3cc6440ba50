"""A trainer with callbacks; the callback that clears the gradients is registered for the wrong event after warm-up."""
from __future__ import annotations
from dataclasses import dataclass, field
from typing import Callable
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)


@dataclass
class Config:
    width: int = 24
    epochs: int = 6
    lr: float = 0.02


@dataclass
class Trainer:
    model: nn.Module
    opt: torch.optim.Optimizer
    callbacks: dict[str, list[Callable]] = field(default_factory=dict)

    def on(self, event):
        def register(fn):
            self.callbacks.setdefault(event, []).append(fn)
            return fn
        return register

    def fire(self, event):
        for fn in self.callbacks.get(event, ()):
            fn(self)

    def fit(self, batches, epochs):
        for self.epoch in range(epochs):
            self.fire("epoch_start")
            for xb, yb in batches:
                self.fire("batch_start")
                loss = F.cross_entropy(self.model(xb), yb)
                loss.backward()
                self.opt.step()
            print(self.epoch, round(loss.item(), 3))


cfg = Config()
x = torch.randn(120, 7)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
batches = list(zip(x.split(20), y.split(20)))
net = nn.Sequential(nn.Linear(7, cfg.width), nn.GELU(), nn.Linear(cfg.width, 3))
trainer = Trainer(net, torch.optim.SGD(net.parameters(), lr=cfg.lr))


@trainer.on("batch_start")
def clear(t):
    t.opt.zero_grad()


trainer.fit(batches, cfg.epochs)
