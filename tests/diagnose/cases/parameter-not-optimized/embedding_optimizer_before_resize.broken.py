"""The vocabulary grows after the optimizer was built: the new table is a new parameter."""
import torch
import torch.nn as nn

torch.manual_seed(13)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 8)
        self.out = nn.Linear(8, 3)

    def grow(self, n):
        old = self.emb
        self.emb = nn.Embedding(n, 8)
        with torch.no_grad():
            self.emb.weight[: old.num_embeddings] = old.weight

    def forward(self, t):
        return self.out(self.emb(t))


model = Tagger()
opt = torch.optim.Adam(model.parameters(), 1e-2)  # EXPECT: parameter-not-optimized
model.grow(20)
for step in range(50):
    t = torch.randint(20, (32,))
    loss = nn.functional.cross_entropy(model(t), t % 3)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("done")
