"""gradients are clipped by value between backward() and step()."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import clip_grad_value_

torch.manual_seed(131)
TEXT = "the quick brown fox jumps over the lazy dog " * 6
VOCAB = sorted(set(TEXT))
CODES = torch.tensor([VOCAB.index(c) for c in TEXT])


class CharRNN(nn.Module):
    def __init__(self, size=24):
        super().__init__()
        self.embed = nn.Embedding(len(VOCAB), size)
        self.rnn = nn.RNN(size, size, batch_first=True)
        self.out = nn.Linear(size, len(VOCAB))

    def forward(self, codes, state=None):
        features, state = self.rnn(self.embed(codes), state)
        return self.out(features), state


def batches(length=15, count=8):
    for _ in range(25):
        starts = torch.randint(0, len(CODES) - length - 1, (count,))
        rows = torch.stack([CODES[s : s + length + 1] for s in starts])
        yield rows[:, :-1], rows[:, 1:]


model = CharRNN()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step, (inputs, wanted) in enumerate(batches()):
    logits, _ = model(inputs)
    loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten())
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    clip_grad_value_(model.parameters(), clip_value=0.1)
    optimizer.step()
print("loss", round(loss.item(), 3))
