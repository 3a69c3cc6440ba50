"""an exponentially smoothed loss for the progress bar is computed with the graph: each value hangs on all earlier ones."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(28)


class LanguageModel(nn.Module):
    def __init__(self, vocab=12, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens):
        return self.head(self.lstm(self.embed(tokens))[0])


def main():
    corpus = torch.arange(480).remainder(11).view(48, 10)
    model = LanguageModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    smooth = None
    for step in range(40):
        tokens = corpus[torch.randint(0, 48, (6,))]
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, 12), tokens[:, 1:].reshape(-1))  # ALSO: graphs-accumulate
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        smooth = loss if smooth is None else 0.95 * smooth + 0.05 * loss  # EXPECT: graphs-accumulate
        if step % 10 == 9:
            print(f"step {step} smoothed loss {smooth:.4f}")


if __name__ == "__main__":
    main()
