"""Legitimate twin: the warm-up starts at 0, and advances: the first step changes nothing, all others do."""
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab=24, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layer = nn.TransformerEncoderLayer(dim, 2, 32, dropout=0.0, batch_first=True, norm_first=True)
        self.out = nn.Linear(dim, 4)

    def forward(self, tokens):
        return self.out(self.layer(self.embed(tokens)).mean(1))


def warmup(step, total=10):
    return min(1.0, step / total)


def main():
    torch.manual_seed(34)
    model = Encoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, warmup)
    tokens = torch.randint(0, 24, (80, 6))
    labels = tokens[:, 0] % 4
    for step in range(40):
        rows = torch.randint(0, 80, (16,))
        loss = nn.functional.cross_entropy(model(tokens[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f} lr {scheduler.get_last_lr()[0]:.5f}")


if __name__ == "__main__":
    main()
