"""Must stay silent: a decoder that is fed its own best guess now and then; the choice of a token carries no gradient."""

import random

import torch
from torch import nn

torch.manual_seed(59)
random.seed(59)


class Seq2Seq(nn.Module):
    def __init__(self, vocabulary=9, width=16):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.cell = nn.GRUCell(width, width)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, source, target, teacher):
        _, hidden = self.encoder(self.embed(source))
        state = hidden[0]
        token = torch.zeros(len(source), dtype=torch.long)
        scores = []
        for i in range(target.shape[1]):
            state = self.cell(self.embed(token), state)
            step = self.out(state)
            scores.append(step)
            token = target[:, i] if random.random() < teacher else step.argmax(1)
        return torch.stack(scores, dim=1)

    @torch.no_grad()
    def decode(self, source):
        return self(source, source, teacher=0.0).argmax(-1)


model = Seq2Seq()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(40):
    model.train()
    source = torch.randint(1, 9, (16, 5))
    loss = nn.functional.cross_entropy(
        model(source, source.flip(1), 0.97**epoch).flatten(0, 1), source.flip(1).flatten()
    )
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()
    if epoch % 10 == 9:
        model.eval()
        accuracy = (model.decode(source) == source.flip(1)).float().mean().item()
        print(epoch, loss.item(), accuracy)
