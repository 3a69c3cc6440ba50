"""Legitimate twin: zero_grad(set_to_none=False) leaves zero tensors behind, a clear like any other."""
import torch
from torch import nn


class TinyTransformer(nn.Module):
    def __init__(self, vocab=16, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.block = nn.TransformerEncoderLayer(dim, nhead=2, dim_feedforward=32, dropout=0.0, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens):
        return self.head(self.block(self.embed(tokens)))


def train(model, optimizer, steps):
    criterion = nn.CrossEntropyLoss()
    for step in range(steps):
        tokens = torch.randint(0, 16, (8, 6))
        targets = tokens.flip(1)
        logits = model(tokens)
        loss = criterion(logits.reshape(-1, 16), targets.reshape(-1))
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:3d} loss {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    network = TinyTransformer()
    train(network, torch.optim.RMSprop(network.parameters(), lr=1e-3), steps=40)
