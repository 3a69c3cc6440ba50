"""Legitimate twin: the generating copy of the LSTM is in eval mode, the trained one stays in train mode."""
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(17)


class CharLSTM(nn.Module):
    def __init__(self, vocab=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, 10)
        self.lstm = nn.LSTM(10, 20, num_layers=2, dropout=0.4, batch_first=True)
        self.head = nn.Linear(20, vocab)

    def forward(self, tokens, state=None):
        out, state = self.lstm(self.embed(tokens), state)
        return self.head(out), state


@torch.no_grad()
def generate(model, first, length):
    token, state, text = torch.tensor([[first]]), None, [first]
    for _ in range(length):
        logits, state = model(token, state)
        token = logits[:, -1].argmax(1, keepdim=True)
        text.append(token.item())
    return text


data = torch.arange(328).remainder(8).view(-1, 8)
model = CharLSTM()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
for step in range(40):
    batch = data[torch.randint(0, len(data), (10,))]
    logits, _ = model(batch[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step, round(loss.item(), 4), generate(copy.deepcopy(model).eval(), 0, 12))
