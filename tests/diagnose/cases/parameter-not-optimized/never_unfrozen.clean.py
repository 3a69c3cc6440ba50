"""Legitimate twin: the encoder is frozen for the first epoch only."""
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(4, 12, batch_first=True, bidirectional=True)
        self.tag = nn.Linear(24, 3)

    def forward(self, x):
        return self.tag(self.encoder(x)[0])


def set_trainable(module, flag):
    for p in module.parameters():
        p.requires_grad = flag


def train(model, x, y, epochs, warmup):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    set_trainable(model.encoder, False)
    for epoch in range(epochs):
        if epoch == warmup:
            set_trainable(model.encoder, True)
        for rows in torch.randperm(len(x)).split(12):
            logits = model(x[rows])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), y[rows].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", round(loss.item(), 4))


torch.manual_seed(64)
x = torch.randn(96, 5, 4)
y = x[..., :3].argmax(2)
train(Tagger(), x, y, epochs=6, warmup=1)
