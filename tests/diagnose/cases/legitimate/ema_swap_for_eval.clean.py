"""Averaged weights are swapped in for the evaluation and out again."""
import torch
import torch.nn as nn


class EMA:
    def __init__(self, model, decay=0.9):
        self.model, self.decay = model, decay
        self.shadow = {n: p.detach().clone() for n, p in model.named_parameters()}
        self.backup = {}

    def update(self):
        for n, p in self.model.named_parameters():
            self.shadow[n].mul_(self.decay).add_(p.detach(), alpha=1 - self.decay)

    def __enter__(self):
        for n, p in self.model.named_parameters():
            self.backup[n] = p.data
            p.data = self.shadow[n]

    def __exit__(self, *exc):
        for n, p in self.model.named_parameters():
            p.data = self.backup[n]
        self.backup = {}


torch.manual_seed(9)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
ema = EMA(model)
opt = torch.optim.Adam(model.parameters(), 1e-2)
for step in range(90):
    x = torch.randn(32, 5)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema.update()
    if step % 30 == 29:
        with ema, torch.no_grad():
            print(step, (model(x) - x.sum(1, keepdim=True)).pow(2).mean().item() >= 0)
