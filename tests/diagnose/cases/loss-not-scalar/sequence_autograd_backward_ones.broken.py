"""token losses of a tagger go to torch.autograd.backward with torch.ones, which sums over 96 tokens instead of averaging."""
import torch
from torch import nn

torch.manual_seed(17)


class Tagger(nn.Module):
    def __init__(self, vocab=20, tags=5):
        super().__init__()
        self.embed = nn.Embedding(vocab, 12)
        self.rnn = nn.LSTM(12, 16, batch_first=True, bidirectional=True)
        self.out = nn.Linear(32, tags)

    def forward(self, emb):
        hidden, _ = self.rnn(emb)
        return self.out(hidden)


tokens = torch.randint(0, 20, (128, 12))
tags = (tokens + tokens.roll(1, dims=1)) % 5
model = Tagger()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
token_loss = nn.CrossEntropyLoss(reduction="none")
for step in range(40):
    idx = torch.randint(0, 128, (8,))
    emb = model.embed(tokens[idx])
    logits = model(emb)
    losses = token_loss(logits.reshape(-1, 5), tags[idx].reshape(-1))  # ALSO: loss-not-scalar
    optimizer.zero_grad()
    torch.autograd.backward(losses, torch.ones(losses.shape))  # EXPECT: loss-not-scalar
    optimizer.step()
    if step % 10 == 9:
        print(step, "token loss", round(losses.mean().item(), 4))
