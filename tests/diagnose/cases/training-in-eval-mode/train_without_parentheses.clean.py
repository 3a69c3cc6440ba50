"""Legitimate twin: model.train() with parentheses after every validation."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(10)


class LanguageModel(nn.Module):
    def __init__(self, vocab=11, dim=20):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, dim, num_layers=2, dropout=0.3, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens):
        return self.head(self.lstm(self.embed(tokens))[0])


def loss_of(model, tokens):
    return F.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:])


def main():
    tokens = torch.arange(660).remainder(11).view(60, 11)
    model = LanguageModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(5):
        for batch in tokens[torch.randperm(48)].split(6):
            optimizer.zero_grad()
            loss = loss_of(model, batch)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            val = loss_of(model, tokens[48:]).item()
        model.train()
        print("epoch", epoch, "train", round(loss.item(), 4), "val", round(val, 4), "training:", model.training)


if __name__ == "__main__":
    main()
