"""Legitimate twin: the same loop, differentiated through torch.autograd.backward."""
import torch
from torch import nn

torch.manual_seed(6)


class CharRNN(nn.Module):
    def __init__(self, vocab=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, 10)
        self.gru = nn.GRU(10, 24, batch_first=True)
        self.head = nn.Linear(24, vocab)

    def forward(self, tokens):
        hidden, _ = self.gru(self.embed(tokens))
        return self.head(hidden)


text = torch.arange(400) * 5 % 12
model = CharRNN()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    starts = torch.randint(0, 380, (16,))
    chunk = torch.stack([text[s:s + 9] for s in starts.tolist()])
    logits = model(chunk[:, :-1])
    loss = criterion(logits.transpose(1, 2), chunk[:, 1:])
    optimizer.zero_grad()
    torch.autograd.backward(loss)
    optimizer.step()
    if step % 10 == 0:
        print("step", step, "loss", round(loss.item(), 4))
