"""Must stay silent: linear probing of an encoder whose word vectors are fixed; the encoder trained before with its own optimizer."""
import torch
from torch import nn

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(40, 8)
        self.emb.weight.requires_grad_(False)
        self.gru = nn.GRU(8, 16, batch_first=True)
        self.head = nn.Linear(16, 40)

    def features(self, x):
        return self.gru(self.emb(x))[0]


enc = Encoder()
lm = torch.optim.Adam([p for p in enc.parameters() if p.requires_grad], lr=1e-2)
for _ in range(20):
    x = torch.randint(0, 40, (8, 6))
    loss = nn.functional.cross_entropy(enc.head(enc.features(x[:, :-1])).flatten(0, 1), x[:, 1:].flatten())
    lm.zero_grad()
    loss.backward()
    lm.step()
probe = nn.Linear(16, 2)
po = torch.optim.SGD(probe.parameters(), lr=0.1)
for _ in range(30):
    x = torch.randint(0, 40, (8, 6))
    y = (x[:, 0] > 20).long()
    loss = nn.functional.cross_entropy(probe(enc.features(x)[:, -1]), y)
    po.zero_grad()
    loss.backward()
    po.step()
print("probed")
