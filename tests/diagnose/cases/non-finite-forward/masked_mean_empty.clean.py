"""Legitimate twin: the count is clamped to at least one, so an empty row has mean zero."""
import torch
from torch import nn

torch.manual_seed(23)
PAD = 0


def masked_mean(states, mask):
    mask = mask.unsqueeze(-1).float()
    return (states * mask).sum(1) / mask.sum(1).clamp(min=1)


class TextClassifier(nn.Module):
    def __init__(self, vocab=40, dim=16):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.classify = nn.Linear(dim, 3)

    def forward(self, tokens):
        states, _ = self.gru(self.embedding(tokens))
        return self.classify(masked_mean(states, tokens != PAD))


def make_batch(step, size=12, length=7):
    tokens = torch.randint(1, 40, (size, length))
    lengths = torch.randint(2, length + 1, (size,))
    if step == 17:
        lengths[3] = 0
    tokens[torch.arange(length) >= lengths[:, None]] = PAD
    return tokens, tokens.sum(1) % 3


def main():
    model = TextClassifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(40):
        tokens, label = make_batch(step)
        loss = nn.functional.cross_entropy(model(tokens), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            print(step, loss.item())


if __name__ == "__main__":
    main()
