"""Must stay silent: truncated back-propagation; the hidden state is carried over and detached at every chunk."""
import torch
from torch import nn

torch.manual_seed(142)


class CharModel(nn.Module):
    def __init__(self, vocab=12, dim=20):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, tokens, state):
        h, state = self.lstm(self.embed(tokens), state)
        return self.out(h), state


def repackage(state):
    return tuple(part.detach() for part in state)


text = (torch.arange(8 * 241) * 5 % 12).view(8, 241)
model = CharModel()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
state = (torch.zeros(1, 8, 20), torch.zeros(1, 8, 20))
for start in range(0, 240, 6):
    state = repackage(state)
    optimizer.zero_grad()
    logits, state = model(text[:, start:start + 6], state)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[:, start + 1:start + 7].flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    if start % 60 == 0:
        print(start, round(loss.item(), 4))
