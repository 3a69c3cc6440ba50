"""a language model's gradients are clipped after step() has already used them."""
import torch
from torch import nn

torch.manual_seed(1)


class LanguageModel(nn.Module):
    def __init__(self, vocab=20, hidden=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden)
        self.lstm = nn.LSTM(hidden, hidden, batch_first=True)
        self.decode = nn.Linear(hidden, vocab)

    def forward(self, tokens, state=None):
        out, state = self.lstm(self.embed(tokens), state)
        return self.decode(out), state


def train(model, corpus, clip=0.1, steps=40):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for step in range(steps):
        at = torch.randint(0, len(corpus) - 13, (8,)).tolist()
        batch = torch.stack([corpus[i:i + 13] for i in at])
        logits, _ = model(batch[:, :-1])
        loss = nn.functional.cross_entropy(logits.reshape(-1, 20), batch[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # ALSO: clip-without-effect
        norm = nn.utils.clip_grad_norm_(model.parameters(), clip)  # EXPECT: clip-without-effect
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.3f} norm {norm.item():.3f}")


train(LanguageModel(), torch.arange(500) * 7 % 20)
