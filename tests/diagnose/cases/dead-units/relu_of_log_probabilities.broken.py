"""Log-probabilities are never positive: the ReLU behind log_softmax is zero for ever."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(32)


class Reader(nn.Module):
    def __init__(self, vocabulary=18, topics=6, classes=3):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocabulary, 12)
        self.topics = nn.Linear(12, topics)
        self.bypass = nn.Linear(12, topics)
        self.classes = nn.Linear(topics, classes)

    def forward(self, words):
        bag = self.embedding(words)
        mixture = F.log_softmax(self.topics(bag), dim=1)
        mixture = F.relu(mixture)  # EXPECT: dead-units  # MAY: gradient-vanishes
        return self.classes(mixture + self.bypass(bag))


class Trainer:
    def __init__(self, model, callbacks=()):
        self.model, self.callbacks = model, callbacks
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def fit(self, words, labels, steps):
        for step in range(steps):
            rows = torch.randint(0, len(words), (12,))
            loss = F.cross_entropy(self.model(words[rows]), labels[rows])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            for callback in self.callbacks:
                callback(step, loss.item())


words = torch.randint(0, 18, (120, 9))
Trainer(Reader(), [lambda step, loss: step % 40 or print(step, loss)]).fit(words, words.sum(1) % 3, 120)
