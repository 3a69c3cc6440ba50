"""an ExitStack enters no_grad for the warm-up of the normaliser, and nobody closes it."""
from contextlib import ExitStack

import torch
from torch import nn

torch.manual_seed(193)


class Normaliser:
    """Mean and deviation of a model's outputs, measured once."""

    def __init__(self, model, samples):
        self.stack = ExitStack()
        self.stack.enter_context(torch.no_grad())  # EXPECT-ERROR: grad-mode-leaked
        outputs = torch.cat([model(s) for s in samples])
        self.mean, self.std = outputs.mean(0), outputs.std(0) + 1e-6

    def __call__(self, outputs):
        return (outputs - self.mean) / self.std


samples = torch.randn(6, 10, 5)
model = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 2))
normalise = Normaliser(model, samples)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    for batch in samples:
        loss = (normalise(model(batch)) - batch[:, :2]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(round(loss.item(), 4))
