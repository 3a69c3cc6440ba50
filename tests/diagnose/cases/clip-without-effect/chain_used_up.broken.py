"""the chained parameters were used up by the optimizer; the clip gets an empty iterator each step (discuss.pytorch.org 61814)."""
import itertools

import torch
from torch import nn

torch.manual_seed(133)


class Seq2Seq:
    def __init__(self, symbols=12, size=20):
        self.encoder = nn.Sequential(nn.Embedding(symbols, size), nn.Flatten(), nn.Linear(size * 5, size))
        self.decoder = nn.Sequential(nn.Tanh(), nn.Linear(size, symbols))
        self.parameters = itertools.chain(self.encoder.parameters(), self.decoder.parameters())
        self.optimizer = torch.optim.Adagrad(self.parameters, lr=0.05)
        self.criterion = nn.CrossEntropyLoss()

    def learn(self, source, target):
        self.optimizer.zero_grad()
        loss = self.criterion(self.decoder(self.encoder(source)), target)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)  # EXPECT: clip-without-effect
        self.optimizer.step()
        return loss.item()


source = torch.randint(0, 12, (48, 5))
learner = Seq2Seq()
history = []
for epoch in range(5):
    for rows in torch.randperm(48).split(12):
        history.append(learner.learn(source[rows], source[rows, 2]))
print(round(history[0], 3), round(history[-1], 3))
