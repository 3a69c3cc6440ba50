"""the callback that clears gradients is registered under a hook name that the trainer never fires (aihwkit#446, tt-blacksmith#711)."""
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(101)


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.callbacks = defaultdict(list)
        self.history = []

    def on(self, event, fn):
        self.callbacks[event].append(fn)
        return self

    def fire(self, event):
        for fn in self.callbacks[event]:
            fn(self)

    def fit(self, loader, epochs):
        for _ in range(epochs):
            self.fire("epoch_begin")
            for tokens, label in loader:
                self.fire("batch_begin")
                self.loss = F.cross_entropy(self.model(tokens), label)
                self.loss.backward()  # ALSO: stale-gradient
                self.optimizer.step()  # EXPECT: stale-gradient
                self.fire("batch_end")


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 16)
        self.gru = nn.GRU(16, 24, batch_first=True)
        self.head = nn.Linear(24, 3)

    def forward(self, tokens):
        _, last = self.gru(self.embed(tokens))
        return self.head(last[-1])


tokens = torch.randint(0, 40, (96, 7))
label = tokens[:, 0] % 3
model = Tagger()
trainer = Trainer(model, torch.optim.Adagrad(model.parameters(), lr=0.05))
trainer.on("batch_start", lambda t: t.optimizer.zero_grad())
trainer.on("batch_end", lambda t: t.history.append(t.loss.item()))
trainer.fit(DataLoader(TensorDataset(tokens, label), batch_size=16, shuffle=True), epochs=3)
print("loss", round(trainer.history[0], 4), "->", round(trainer.history[-1], 4))
