"""Legitimate twin: the trainable parameters are a list; the frozen embedding is in neither call."""
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, vocab=40, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.embed.weight.requires_grad = False
        layer = nn.TransformerEncoderLayer(dim, 4, 32, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(dim, 3)

    def forward(self, tokens):
        return self.head(self.encoder(self.embed(tokens)).mean(1))


def main():
    torch.manual_seed(4)
    tokens = torch.randint(0, 40, (96, 6))
    labels = tokens[:, 0] % 3
    model = Classifier()
    trainable = list(filter(lambda p: p.requires_grad, model.parameters()))
    optimizer = torch.optim.AdamW(trainable, lr=3e-3)
    for epoch in range(6):
        for rows in torch.randperm(96).split(16):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(tokens[rows]), labels[rows])
            loss.backward()
            norm = nn.utils.clip_grad_norm_(trainable, max_norm=0.1)
            optimizer.step()
        print("epoch", epoch, "loss", round(loss.item(), 4), "norm", round(float(norm), 4))


if __name__ == "__main__":
    main()
