"""Legitimate twin: what is blanked is another tensor, by an operation of its own."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(61)
draws = np.random.default_rng(61)


class Pooled(nn.Module):
    """A mean over words, weighted; words behind the end of a sentence count for nothing."""

    def __init__(self, width):
        super().__init__()
        self.weigh, self.judge = nn.Linear(width, 1), nn.Linear(width, 2)

    def forward(self, words, ends):
        weights = torch.tanh(self.weigh(words)) + 1
        flat = weights.exp().reshape(len(words), -1)
        behind = np.arange(words.shape[1]) >= ends[:, None]
        flat = flat.masked_fill(torch.from_numpy(behind), 0.1)
        return self.judge((flat[:, None] @ words).squeeze(1))


model = Pooled(5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
words, labels = torch.randn(32, 7, 5), torch.randint(0, 2, (32,))
ends = draws.integers(2, 7, 32)
for _ in range(40):
    loss = nn.functional.cross_entropy(model(words, ends), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4))
