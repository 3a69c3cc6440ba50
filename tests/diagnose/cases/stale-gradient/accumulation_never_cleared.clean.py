"""Legitimate twin: accumulation with an odd number of micro-batches, the remainder is flushed at the end of the epoch."""
import torch
from torch import nn

torch.manual_seed(21)
ACCUMULATE = 2


class Tagger(nn.Module):
    def __init__(self, vocab=30, tags=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, 8)
        self.lstm = nn.LSTM(8, 16, batch_first=True)
        self.out = nn.Linear(16, tags)

    def forward(self, tokens):
        hidden, _ = self.lstm(self.embed(tokens))
        return self.out(hidden)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        self.criterion = nn.CrossEntropyLoss()

    def run_epoch(self, tokens, tags):
        losses = []
        for i, rows in enumerate(torch.arange(len(tokens)).split(10)):
            logits = self.model(tokens[rows])
            loss = self.criterion(logits.flatten(0, 1), tags[rows].flatten())
            (loss / ACCUMULATE).backward()
            losses.append(loss.item())
            if (i + 1) % ACCUMULATE == 0:
                self.apply()
        self.apply()
        return sum(losses) / len(losses)

    def apply(self):
        self.optimizer.step()
        self.optimizer.zero_grad()


tokens = torch.randint(0, 30, (90, 7))
tags = tokens % 4
trainer = Trainer(Tagger())
for epoch in range(5):
    print("epoch", epoch, round(trainer.run_epoch(tokens, tags), 4))
