"""a backward_and_step() helper hands retain_graph=True to torch.autograd.backward for every model it trains."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(29)


class TinyTransformer(nn.Module):
    def __init__(self, vocab=14, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layer = nn.TransformerEncoderLayer(dim, 2, 32, dropout=0.0, batch_first=True)
        self.next = nn.Linear(dim, vocab)
        self.parity = nn.Linear(dim, 2)

    def forward(self, tokens):
        h = self.layer(self.embed(tokens))
        return self.next(h[:, -1]), self.parity(h.mean(1))


def backward_and_step(losses, model, optimizer):
    optimizer.zero_grad()
    torch.autograd.backward(sum(losses), retain_graph=True)  # EXPECT: graph-retained-unused
    optimizer.step()


tokens = torch.randint(0, 14, (64, 6))
following, parity = (tokens[:, -1] + 1) % 14, tokens.sum(1) % 2
model = TinyTransformer()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(30):
    idx = torch.randint(0, 64, (16,))
    a, b = model(tokens[idx])
    losses = [F.cross_entropy(a, following[idx]), F.cross_entropy(b, parity[idx])]
    backward_and_step(losses, model, optimizer)
    if step % 10 == 9:
        print("step", step, [round(v.item(), 3) for v in losses])
