"""Legitimate twin: the preallocated batch tensor is refilled after backward()."""
import torch
from torch import nn

torch.manual_seed(82)


class Prefetcher:
    def __init__(self, source, size):
        self.source = source
        self.batch = torch.empty(size, *source.shape[1:])

    def fill(self):
        rows = torch.randint(0, len(self.source), (len(self.batch),))
        self.batch.copy_(self.source[rows])
        return self.batch


signals = torch.randn(120, 2, 16)
model = nn.Sequential(nn.Conv1d(2, 6, 5, padding=2), nn.Tanh(), nn.Conv1d(6, 2, 5, padding=2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
prefetcher = Prefetcher(signals, 24)
batch = prefetcher.fill()
for step in range(40):
    smooth = nn.functional.avg_pool1d(batch, 3, stride=1, padding=1)
    prediction = model(batch)
    loss = nn.functional.mse_loss(prediction, smooth)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    batch = prefetcher.fill()
    if step % 10 == 9:
        print(step, "loss", round(loss.item(), 4))
