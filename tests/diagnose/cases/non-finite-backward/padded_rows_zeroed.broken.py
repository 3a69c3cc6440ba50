"""Attention over sentences that are all padding: softmax gives nan, masked_fill hides it, and its gradient is nan."""

import torch
from torch import nn

torch.manual_seed(27)


class SentencePooling(nn.Module):
    def __init__(self, vocabulary: int = 15, width: int = 8):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width, padding_idx=0)
        self.query = nn.Linear(width, 1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        padding = tokens == 0
        vectors = self.words(tokens)
        scores = self.query(vectors).squeeze(-1)
        mask = torch.zeros(tokens.shape).masked_fill(padding, float("-inf"))
        weights = torch.softmax(scores + mask, dim=-1)  # EXPECT: non-finite-backward
        weights = weights.masked_fill(padding, 0.0)
        return (weights.unsqueeze(-1) * vectors).sum(-2)


class DocumentClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.sentences = SentencePooling()
        self.out = nn.Linear(8, 2)

    def forward(self, documents):
        return self.out(self.sentences(documents).mean(1))


documents = torch.randint(1, 15, (12, 4, 6))  # documents, sentences, words
for row, count in enumerate([4, 3, 4, 2, 4, 4, 1, 4, 3, 4, 4, 2]):
    documents[row, count:] = 0
labels = (documents[:, 0, 0] > 7).long()
model = DocumentClassifier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(8):
    loss = nn.functional.cross_entropy(model(documents), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch == 0:
        print("loss", loss.item())
