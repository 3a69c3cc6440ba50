"""The embedding is replaced by a larger one, and the optimizer still owns the old one."""
import torch
from torch import nn

torch.manual_seed(206)


class Tagger(nn.Module):
    def __init__(self, vocab, d=12):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.out = nn.Linear(d, 4)

    def resize(self, vocab):
        new = nn.Embedding(vocab, self.emb.embedding_dim)
        with torch.no_grad():
            new.weight[: self.emb.num_embeddings] = self.emb.weight
        self.emb = new

    def forward(self, t):
        return self.out(self.emb(t))


m = Tagger(30)
opt = torch.optim.Adam(m.parameters(), lr=2e-3)  # EXPECT: parameter-not-optimized
for step in range(560):
    if step == 360:
        m.resize(40)
    t = torch.randint(0, m.emb.num_embeddings, (16,))
    loss = nn.functional.cross_entropy(m(t), t % 4)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
