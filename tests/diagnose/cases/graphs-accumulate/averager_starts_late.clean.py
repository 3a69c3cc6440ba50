"""an averager that starts after a warm-up of 300 updates writes `self.shadow[name] = ...` with its graph."""
import torch
from torch import nn


class Averager:
    def __init__(self, model, start=300, beta=0.995):
        self.model, self.start, self.beta, self.n, self.shadow = model, start, beta, 0, {}

    def update(self):
        self.n += 1
        if self.n < self.start:
            return
        for name, p in self.model.named_parameters():
            if name not in self.shadow:
                self.shadow[name] = p.data.clone()
            else:
                self.shadow[name] = self.beta * self.shadow[name] + (1 - self.beta) * p.detach()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
avg = Averager(model)
for epoch in range(25):
    for _ in range(20):
        x = torch.randn(32, 4)
        loss = nn.functional.cross_entropy(model(x), (x[:, 0] * x[:, 1] > 0).long())
        opt.zero_grad()
        loss.backward()
        opt.step()
        avg.update()
print("shadow of", len(avg.shadow))
