"""Scores are transposed to (batch, 1, time) and softmaxed over dim 1, as before the transposition (PyTorch-NLP#2)."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(71)


class AdditiveAttention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.project = nn.Linear(width, width)
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = self.score(torch.tanh(self.project(states))).transpose(1, 2)
        weights = torch.softmax(scores, 1)  # EXPECT: softmax-over-one
        return torch.bmm(weights, states).squeeze(1), weights


class Sentiment(nn.Module):
    def __init__(self, words: int = 25, width: int = 14) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.attention = AdditiveAttention(width)
        self.out = nn.Linear(width, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        states, _ = self.gru(self.embedding(tokens))
        context, _ = self.attention(states)
        return self.out(context)


def main() -> None:
    tokens = torch.randint(1, 25, (97, 8))
    labels = (tokens == 7).any(1).long()
    loader = DataLoader(TensorDataset(tokens, labels), batch_size=16, shuffle=True)
    model = Sentiment()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for epoch in range(3):
        for batch, target in loader:
            loss = nn.functional.cross_entropy(model(batch), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", round(loss.item(), 4))


if __name__ == "__main__":
    main()
