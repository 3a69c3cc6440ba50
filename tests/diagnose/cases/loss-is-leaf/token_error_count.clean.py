"""The tagger is trained by cross entropy; the count of wrong tokens is only a metric."""

import argparse

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, vocabulary: int, tags: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, 12)
        self.rnn = nn.GRU(12, 16, batch_first=True)
        self.head = nn.Linear(16, tags)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        states, _ = self.rnn(self.embedding(tokens))
        return self.head(states)


def wrong_tokens(scores: torch.Tensor, tags: torch.Tensor) -> int:
    guesses = scores.argmax(-1).tolist()
    return sum(g != t for row, truth in zip(guesses, tags.tolist()) for g, t in zip(row, truth))


class Trainer:
    def __init__(self, model: nn.Module, lr: float):
        self.model = model
        self.optimizer = torch.optim.RMSprop(model.parameters(), lr=lr)

    def training_step(self, tokens: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
        scores = self.model(tokens)
        errors = wrong_tokens(scores, tags) / tags.numel()
        self.error_rate = errors
        return nn.functional.cross_entropy(scores.flatten(0, 1), tags.flatten())

    def fit(self, tokens: torch.Tensor, tags: torch.Tensor, steps: int) -> None:
        for step in range(steps):
            loss = self.training_step(tokens, tags)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if step % 5 == 0:
                print(step, loss.item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--lr", type=float, default=1e-2)
    args = parser.parse_args()
    torch.manual_seed(0)
    tokens = torch.randint(0, 20, (16, 7))
    Trainer(Tagger(20, 4), args.lr).fit(tokens, tokens % 4, args.steps)
