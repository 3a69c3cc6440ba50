"""a home-made context manager restores recording only if no exception passed through it."""
import torch
from torch import nn


class Quiet:
    """Evaluation mode and no recording, for a while."""

    def __init__(self, model):
        self.model = model

    def __enter__(self):
        self.before = torch.is_grad_enabled()
        self.model.eval()
        torch.set_grad_enabled(False)  # EXPECT-ERROR: grad-mode-leaked
        return self

    def __exit__(self, kind, error, trace):
        self.model.train()
        if kind is None:
            torch.set_grad_enabled(self.before)
        return False


def score(model, rows):
    with Quiet(model):
        if rows.shape[0] == 0:
            raise ValueError("no rows")
        return model(rows).mean().item()


torch.manual_seed(194)
model = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1))
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
x = torch.randn(30, 3)
held_out = [x[:5], x[:0], x[5:9]]
for epoch in range(3):
    loss = (model(x) - x.max(1, keepdim=True).values).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    try:
        print(epoch, score(model, held_out[epoch]))
    except ValueError as problem:
        print(epoch, "skipped:", problem)
